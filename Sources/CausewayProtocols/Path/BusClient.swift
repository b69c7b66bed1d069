/// A client for the D-Bus system bus. It does no I/O: the caller passes bytes between the client and the bus, in both
/// directions.
package protocol BusClient: Sendable, ~Copyable {
    associatedtype Status: Equatable, Sendable

    /// Why the conversation ended; `nil` while it is open.
    var end: String? { get }

    /// The state as described by the bus messages received so far, for example the machine's power state.
    var status: Status { get }

    /// Returns the bytes to send and clears the buffer.
    mutating func takeOutput() -> [UInt8]

    /// Processes received bytes from the message bus. The bytes may contain only part of a message.
    mutating func receive(_ bytes: [UInt8])
}
