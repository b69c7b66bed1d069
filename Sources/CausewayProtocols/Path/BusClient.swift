/// A client for the D-Bus system bus, without I/O. The driver passes bytes in both directions.
package protocol BusClient: Sendable, ~Copyable {
    associatedtype Status: Equatable, Sendable

    /// Why the conversation ended; `nil` while it is open.
    var end: String? { get }

    /// The current state, from the messages received so far.
    var status: Status { get }

    /// Returns the bytes to send and clears the buffer.
    mutating func takeOutput() -> [UInt8]

    /// Processes bytes from the bus. A message may arrive in several pieces.
    mutating func receive(_ bytes: [UInt8])
}
