import Causeway
import FoundationEssentials

/// A framer that exchanges a line in each direction, and then switches to pass-through inside the closure that parses the peer's line. A
/// line that begins with "n" is a refusal.
final class GreetingFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: GreetingFramer.self)
    static var label: String { "greeting" }

    private var isGreeted = false

    init(framer: NWProtocolFramer.Instance) {}

    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult {
        framer.writeOutput(data: Data("hello\n".utf8))
        framer.passThroughOutput()
        return .willMarkReady
    }

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while !isGreeted {
            let isParsed = framer.parseInput(minimumIncompleteLength: 1, maximumLength: 4) { buffer, _ in
                guard let buffer, let first = buffer.first else { return 0 }
                if first == UInt8(ascii: "n") { framer.markFailed(error: .posix(.EACCES)) }
                guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return buffer.count }
                isGreeted = true
                framer.passThroughInput()
                framer.markReady()
                return end + 1
            }
            guard isParsed else { return 1 }
        }
        return 0
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {}

    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    static func parameters() -> NWParameters {
        let parameters = NWParameters.tcp
        parameters.defaultProtocolStack.applicationProtocols.append(NWProtocolFramer.Options(definition: definition))
        return parameters
    }
}
