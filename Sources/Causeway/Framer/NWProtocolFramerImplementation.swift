/// A program-defined protocol that splits a stream into messages, or transforms data passing through the stack.
///
/// One object is created for each connection attempt. Its methods are called on the connection's queue, one after the other.
///
/// Counterpart: macOS 10.15, iOS 13.
public protocol NWProtocolFramerImplementation: AnyObject {
    /// The framer's name, for logs.
    static var label: String { get }

    /// Creates the framer for one connection attempt.
    init(framer: NWProtocolFramer.Instance)

    /// Called once, when the protocol below is ready.
    ///
    /// - Returns: `.ready`, or `.willMarkReady` to perform a handshake first.
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult

    /// Called when input has arrived. The framer should parse and deliver messages until the rest of the input is too
    /// short for a message.
    ///
    /// - Returns: The minimum number of bytes to wait for before the next call; 0 for any number. More than 16 MiB
    ///   makes the connection fail with `EMSGSIZE`.
    func handleInput(framer: NWProtocolFramer.Instance) -> Int

    /// Called when the program sends a message or a part of a message. The framer writes the bytes, changed or
    /// unchanged. Bytes that the framer does not write are dropped.
    ///
    /// - Parameters:
    ///   - framer: The interface to the connection.
    ///   - message: The metadata of the message.
    ///   - messageLength: The number of bytes.
    ///   - isComplete: Whether the message ends with these bytes.
    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool)

    /// Called at the time set with ``NWProtocolFramer/Instance/scheduleWakeup(wakeupTime:)``.
    func wakeup(framer: NWProtocolFramer.Instance)

    /// Called when the connection is closing.
    ///
    /// - Returns: `true` if the framer is done; `false` if the framer will call
    ///   ``NWProtocolFramer/Instance/markFailed(error:)`` when it is done.
    func stop(framer: NWProtocolFramer.Instance) -> Bool

    /// Called once after the connection has ended. No other call follows.
    func cleanup(framer: NWProtocolFramer.Instance)
}
