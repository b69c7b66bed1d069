import Causeway
import FoundationEssentials

/// The chat's format as a framer: each line is a message, without its end.
///
/// What is wrong with the peer's octets comes as a last message, behind the lines before it; see ``problem(of:)``.
final class LineFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: LineFramer.self)
    static var label: String { "lines" }

    private var isBroken = false

    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    static func problem(of context: NWConnection.ContentContext?) -> LineProblem? {
        let message = context?.protocolMetadata(definition: definition) as? NWProtocolFramer.Message
        return message?["problem"] as? LineProblem
    }

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while !isBroken {
            var line: Data?
            var problem: LineProblem?
            _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: Line.window) { buffer, isComplete in
                guard let buffer, !buffer.isEmpty else { return 0 }
                do throws(LineProblem) {
                    guard let (count, whole) = try Line.first(in: buffer) else {
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
        // Nobody reads what follows: it is dropped as it comes.
        _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: 65_536) { buffer, _ in buffer?.count ?? 0 }
        return 0
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        // It has as many octets.
        try? framer.writeOutputNoCopy(length: messageLength)
        if isComplete { framer.writeOutput(data: Line.end) }
    }
}
