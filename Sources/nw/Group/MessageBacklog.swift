import CausewayTypes
import Synchronization

/// Limits how many received messages wait for a slow standard output. Drops further messages, as a full socket does.
final class MessageBacklog: Sendable {
    /// The maximum number of waiting bytes.
    static let limit = 4 << 20
    /// Each message counts as this number of bytes more than its text has.
    private static let overhead = 128

    private struct State {
        var byteCount = 0
        var hasDropped = false
    }

    enum Admission: Equatable, Sendable {
        case admitted, dropped
        /// This message was dropped. No earlier message was dropped.
        case firstDropped
    }

    private let state = Mutex(State())

    /// Adds a message if the backlog has space for it. Returns whether it was added.
    func add(_ message: PrintableText) -> Admission {
        let byteCount = Self.byteCount(of: message)
        return state.withLock { state in
            guard state.byteCount + byteCount <= Self.limit else {
                defer { state.hasDropped = true }
                return state.hasDropped ? .dropped : .firstDropped
            }
            state.byteCount += byteCount
            return .admitted
        }
    }

    /// Reduces the number of waiting bytes by the size of a message that was admitted earlier.
    func remove(_ message: PrintableText) {
        let byteCount = Self.byteCount(of: message)
        state.withLock { $0.byteCount -= byteCount }
    }

    private static func byteCount(of message: PrintableText) -> Int { message.text.utf8.count + overhead }
}
