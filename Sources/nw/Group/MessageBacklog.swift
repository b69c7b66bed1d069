import CausewayTypes
import Synchronization

/// Limits the received messages that wait for a slow standard output. Drops messages above the limit, as a full socket
/// does.
final class MessageBacklog: Sendable {
    /// The maximum number of waiting bytes.
    static let limit = 4 << 20
    /// The number of bytes counted for each message in addition to its text.
    private static let overhead = 128

    private struct State {
        var byteCount = 0
        var hasDropped = false
    }

    enum Admission: Equatable, Sendable {
        case admitted, dropped
        /// This message was dropped, and is the first dropped message.
        case firstDropped
    }

    private let state = Mutex(State())

    /// Adds a message if there is room.
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

    /// Removes a message that was admitted.
    func remove(_ message: PrintableText) {
        let byteCount = Self.byteCount(of: message)
        state.withLock { $0.byteCount -= byteCount }
    }

    private static func byteCount(of message: PrintableText) -> Int { message.text.utf8.count + overhead }
}
