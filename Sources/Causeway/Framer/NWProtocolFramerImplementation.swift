/// A protocol of the program's own: it divides a stream into messages, or changes what passes through it.
///
/// One object is made for each attempt to establish a connection. All methods of one object are called one after the
/// other.
///
/// Counterpart: macOS 10.15, iOS 13.
public protocol NWProtocolFramerImplementation: AnyObject {
    /// A name for logs.
    static var label: String { get }

    /// Makes the framer of one attempt.
    init(framer: NWProtocolFramer.Instance)

    /// The layer below is ready. Answer `.willMarkReady` to shake hands first.
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult

    /// There is input: parse and deliver until too little is left.
    ///
    /// - Returns: How many bytes to wait for before the next call; 0 for any.
    func handleInput(framer: NWProtocolFramer.Instance) -> Int

    /// The program sends a message, or a part of one: write it, changed or not, or drop it.
    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool)

    /// The time of ``NWProtocolFramer/Instance/scheduleWakeup(wakeupTime:)`` has come.
    func wakeup(framer: NWProtocolFramer.Instance)

    /// The connection closes.
    ///
    /// - Returns: `true` when the framer is done; `false` if it calls
    ///   ``NWProtocolFramer/Instance/markFailed(error:)`` later.
    func stop(framer: NWProtocolFramer.Instance) -> Bool

    /// The connection has gone. Nothing is called any more.
    func cleanup(framer: NWProtocolFramer.Instance)
}
