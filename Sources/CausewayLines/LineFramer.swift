public import Causeway
internal import FoundationEssentials

/// A framer for lines: each line is a message without its line end (``LineFormat``).
///
/// ```swift
/// let parameters = NWParameters.tcp
/// parameters.defaultProtocolStack.applicationProtocols.insert(LineFramer.options, at: 0)
/// ```
///
/// If the peer sends malformed input, the framer reports this in one final message after the valid lines; see
/// ``problem(of:)``. A line to send must not contain a line feed.
public final class LineFramer: NWProtocolFramerImplementation {
    /// The framer's definition, for a protocol stack.
    public static let definition = NWProtocolFramer.Definition(implementation: LineFramer.self)
    /// The framer's name in descriptions.
    public static var label: String { "lines" }

    private var isBroken = false

    /// The options with which a program adds this framer to a protocol stack.
    public static var options: NWProtocolFramer.Options { NWProtocolFramer.Options(definition: definition) }

    /// Creates a framer for one connection. Called by the connection.
    public init(framer: NWProtocolFramer.Instance) {}
    /// Starts the framer. It is ready at once, because it has no handshake. Called by the connection.
    public func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    /// Does nothing: the framer schedules no wakeups.
    public func wakeup(framer: NWProtocolFramer.Instance) {}
    /// Allows the connection to end at once.
    public func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    /// Does nothing, because the framer has nothing to release.
    public func cleanup(framer: NWProtocolFramer.Instance) {}

    /// Returns the problem that a received message reports in its content context. Returns `nil` for a valid line.
    public static func problem(of context: NWConnection.ContentContext?) -> LineProblem? {
        let message = context?.protocolMetadata(definition: definition) as? NWProtocolFramer.Message
        return message?["problem"] as? LineProblem
    }

    /// Delivers each received line as a message. Called by the connection.
    public func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while !isBroken {
            var line: Data?
            var problem: LineProblem?
            _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: LineFormat.window) { buffer, isComplete in
                guard let buffer, !buffer.isEmpty else { return 0 }
                do throws(LineProblem) {
                    guard let (count, whole) = try LineFormat.first(in: buffer) else {
                        if isComplete { problem = .unfinished }
                        return 0
                    }
                    line = Data(buffer.prefix(count))
                    return whole
                } catch {
                    problem = error
                    return 0
                }
            }
            guard line != nil || problem != nil else { return 0 }
            let message = NWProtocolFramer.Message(instance: framer)
            message["problem"] = problem
            isBroken = problem != nil
            framer.deliverInput(data: line ?? Data(), message: message, isComplete: true)
        }
        // After a malformed line, the rest of the input cannot be decoded. Drop it.
        _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: 65_536) { buffer, _ in buffer?.count ?? 0 }
        return 0
    }

    /// Sends a message with a line end. Called by the connection.
    public func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        // This call cannot fail: `messageLength` is the size of this message, so the message has all the requested
        // bytes.
        try? framer.writeOutputNoCopy(length: messageLength)
        if isComplete { framer.writeOutput(data: LineFormat.end) }
    }
}
