/// What the process that runs a proxy script says, and what it is told.
///
/// A message is one byte, its kind, and text: `Q` asks for the addresses of a name and is answered by `A` with addresses between
/// semicolons; `L` is something to write down; `R` is the script's result, `F` what went wrong in it, `C` why the process could not be
/// confined. The last three end the conversation. Nothing that the process says is trusted.
package struct PACConversation: Sendable {
    package enum Step: Equatable, Sendable {
        case none
        case lookUp(String)
        case end(Result<String, PACProblem>)
    }

    /// Bytes of the longest message, and how many of them a process may send.
    package static let messageLimit = 16 << 10
    private static let messageCountLimit = 256
    /// The most names that one evaluation may ask for.
    package static let lookupLimit = 32
    private static let alertLimit = 32
    /// Longer answers are cut off.
    private static let addressLimit = 64

    /// What the script has written down.
    package private(set) var alerts: [String] = []
    /// Names that were asked for, with their addresses.
    package private(set) var lookups: [(name: String, addresses: [String])] = []
    private var isAwaiting = false
    private var isOver = false
    private var messageCount = 0

    package init() {}

    package mutating func received(_ message: [UInt8]) -> Step {
        guard !isOver else { return .none }
        messageCount += 1
        guard let kind = message.first, message.count <= Self.messageLimit, messageCount <= Self.messageCountLimit,
            !isAwaiting
        else { return end(.failure(.broken)) }
        let text = String(decoding: message.dropFirst(), as: UTF8.self)
        switch kind {
        case UInt8(ascii: "Q"): return ask(text)
        case UInt8(ascii: "L"):
            if alerts.count < Self.alertLimit { alerts.append(text) }
            return .none
        case UInt8(ascii: "R"): return end(.success(text))
        case UInt8(ascii: "F"): return end(.failure(.failed(text)))
        case UInt8(ascii: "C"): return end(.failure(.unconfined(text)))
        default: return end(.failure(.broken))
        }
    }

    /// The answer to the look-up that is under way.
    package mutating func found(_ addresses: [String]) -> [UInt8] {
        isAwaiting = false
        let addresses = Array(addresses.prefix(Self.addressLimit))
        if let last = lookups.indices.last { lookups[last].addresses = addresses }
        return [UInt8(ascii: "A")] + Array(addresses.joined(separator: ";").utf8)
    }

    /// The process has ended.
    package mutating func ended() -> Step { isOver ? .none : end(.failure(.died)) }

    private mutating func ask(_ name: String) -> Step {
        guard lookups.count < Self.lookupLimit else { return end(.failure(.tooManyLookups)) }
        lookups.append((name, []))
        isAwaiting = true
        return .lookUp(name)
    }

    private mutating func end(_ outcome: Result<String, PACProblem>) -> Step {
        isOver = true
        return .end(outcome)
    }
}

/// Why a proxy script has no result.
package enum PACProblem: Error, Hashable, Sendable {
    /// What to install.
    case noEngine(String)
    /// The kernel does not allow what keeps the script harmless.
    case unconfined(String)
    /// By the script's own fault: the engine's words.
    case failed(String)
    case tooSlow
    case tooManyLookups
    /// The process said what it cannot say.
    case broken
    /// It ended without a word: it used up its time of the processor, or its stack.
    case died
    case cancelled
    /// There is no process to run it in; an error number.
    case noProcess(Int32)

    package var reason: String {
        switch self {
        case .noEngine(let text): text
        case .unconfined(let step): "the script was not run, because the kernel did not allow to confine it (\(step))"
        case .failed(let text): "the script failed: \(text)"
        case .tooSlow: "the script took too long"
        case .tooManyLookups: "the script looks up more than \(PACConversation.lookupLimit) names"
        case .broken: "the script's process made no sense"
        case .died: "the script's process ended without a result: it took too much of the processor"
        case .cancelled: "the evaluation was cancelled"
        case .noProcess(let code): "there is no process to run the script in (errno \(code))"
        }
    }
}
