public import Causeway
internal import FoundationEssentials

/// Lines as a framer: each line is a message, without its end (``LineFormat``).
///
/// ```swift
/// let parameters = NWParameters.tcp
/// parameters.defaultProtocolStack.applicationProtocols.insert(LineFramer.options, at: 0)
/// ```
///
/// What is wrong with the bytes of a peer comes as a last message, behind the lines before it; see ``problem(of:)``. A line that is sent
/// must not hold a line feed.
public final class LineFramer: NWProtocolFramerImplementation {
    public static let definition = NWProtocolFramer.Definition(implementation: LineFramer.self)
    public static var label: String { "lines" }

    private var isBroken = false

    /// What a stack takes of it.
    public static var options: NWProtocolFramer.Options { NWProtocolFramer.Options(definition: definition) }

    public init(framer: NWProtocolFramer.Instance) {}
    public func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    public func wakeup(framer: NWProtocolFramer.Instance) {}
    public func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    public func cleanup(framer: NWProtocolFramer.Instance) {}

    /// What the message of a context says is wrong; `nil` for a line.
    public static func problem(of context: NWConnection.ContentContext?) -> LineProblem? {
        let message = context?.protocolMetadata(definition: definition) as? NWProtocolFramer.Message
        return message?["problem"] as? LineProblem
    }

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
        // Nothing that follows can be decoded: it is dropped as it comes.
        _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: 65_536) { buffer, _ in buffer?.count ?? 0 }
        return 0
    }

    public func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        // The message has as many bytes.
        try? framer.writeOutputNoCopy(length: messageLength)
        if isComplete { framer.writeOutput(data: LineFormat.end) }
    }
}
