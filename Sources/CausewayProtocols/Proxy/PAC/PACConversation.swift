internal import CausewayTypes

/// The protocol between this process and the child process that evaluates a PAC script.
///
/// Each message has one byte for its kind, followed by text:
///
/// - `Q`: requests a name's addresses.
/// - `A`: the reply, with the addresses separated by semicolons.
/// - `L`: a log line.
/// - `R`: the script's result.
/// - `F`: an error in the script.
/// - `C`: the reason why the child process could not enter its sandbox.
///
/// `R`, `F` and `C` end the conversation. Messages from the child process are not trusted.
package struct PACConversation: Sendable {
    package enum Step: Equatable, Sendable {
        case none
        case lookUp(String)
        case end(Result<String, PACProblem>)
    }

    /// The maximum message length in bytes.
    package static let messageLimit = 16 << 10
    /// The maximum number of messages from one child process.
    private static let messageCountLimit = 256
    /// The maximum number of names that one evaluation may look up.
    package static let lookupLimit = 32
    private static let alertLimit = 32
    /// The maximum number of addresses in a reply; addresses above this number are left out.
    private static let addressLimit = 64

    /// Messages that the script wrote with `alert`.
    package private(set) var alerts: [String] = []
    /// Names that the script looked up, with their addresses.
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

    /// Returns the reply to the script's pending name lookup.
    package mutating func found(_ addresses: [String]) -> [UInt8] {
        isAwaiting = false
        let addresses = Array(addresses.prefix(Self.addressLimit))
        if let last = lookups.indices.last { lookups[last].addresses = addresses }
        return [UInt8(ascii: "A")] + Array(addresses.joined(separator: ";").utf8)
    }

    /// Reports that the child process ended.
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

/// Why a PAC script has no result.
package enum PACProblem: Error, Hashable, Sendable {
    /// No JavaScript engine is installed. The text names the package to install.
    case noEngine(String)
    /// The kernel does not support the script's sandbox. The text names the failed setup step.
    case unconfined(String)
    /// The script has an error. The text is the engine's message.
    case failed(String)
    case tooSlow
    case tooManyLookups
    /// The child process sent a malformed or unexpected message.
    case broken
    /// The child process ended without a result, for example because it exceeded the CPU time limit or overflowed its
    /// stack.
    case died
    case cancelled
    /// The child process could not be started. The value is `errno`.
    case noProcess(Int32)

    package var reason: String {
        switch self {
        case .noEngine(let text): text
        case .unconfined(let step): "the script was not run, because the kernel does not support its sandbox (\(step))"
        case .failed(let text): "the script failed: \(text)"
        case .tooSlow: "the script timed out"
        case .tooManyLookups: "the script looks up more than \(PACConversation.lookupLimit) names"
        case .broken: "the script's process sent an invalid message"
        case .died: "the script's process ended without a result: it exceeded its CPU time or stack"
        case .cancelled: "the evaluation was cancelled"
        case .noProcess(let code): "cannot start a process for the script (errno \(code))"
        }
    }
}

extension PACConversation: UntimedMachine {
    package typealias Action = Step

    package var hasEnded: Bool { isOver }
}
