/// A client for the D-Bus system bus. It does no I/O: the caller passes bytes between the client and the bus, in both
/// directions.
package protocol BusClient: Sendable, ~Copyable {
    associatedtype Status: Equatable, Sendable

    /// Why the conversation ended; `nil` while it is open.
    var end: String? { get }

    /// The state that the bus messages received so far describe, for example the machine's power state.
    var status: Status { get }

    /// Returns the bytes to send and clears the buffer.
    mutating func takeOutput() -> [UInt8]

    /// Processes bytes from the bus. A message may arrive in several pieces.
    mutating func receive(_ bytes: [UInt8])
}
