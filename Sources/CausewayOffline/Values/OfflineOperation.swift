public import Foundation

/// An operation in an offline queue. Its request waits, is being sent, or has stopped. The operations of a lane are
/// sent one after the other, so a stopped operation also stops the later operations of its lane.
public struct OfflineOperation: Identifiable, Hashable, Sendable {
    /// Identifies an operation, and stays the same after a restart. Later operations have higher numbers.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The operation number, from 1.
        public let number: UInt64

        /// Creates an identifier from a number that the program has stored.
        public init(_ number: UInt64) { self.number = number }

        /// The number as text.
        public var description: String { "\(number)" }

        /// Whether the first operation was queued before the second.
        public static func < (a: ID, b: ID) -> Bool { a.number < b.number }
    }

    /// An operation's state.
    public enum State: Hashable, Sendable {
        /// The operation waits. It may wait for earlier operations in its lane, for a reachable server, or for the end
        /// of a back-off. A lane is a sequence of operations that are sent one after the other.
        case waiting
        /// The operation is being sent.
        case sending
        /// The server has refused the operation. The program's resolver now decides whether the operation is sent
        /// again, changed, stopped or dropped.
        case resolving
        /// The operation has stopped, and so have the later operations in its lane. The lane continues when the program
        /// resumes, edits or cancels the operation.
        case stopped(OfflineStop)
    }

    /// The operation's identifier.
    public let id: ID
    /// The name of the operation's lane. A lane's operations are sent one after the other, in order.
    public let lane: String
    /// The method.
    public let method: String
    /// The encoded path and query, relative to the client's base URL, or an absolute URL.
    public let target: String
    /// The content size in bytes.
    public let contentByteCount: Int64
    /// The `Idempotency-Key` value, without quotation marks.
    public let key: String
    /// When the operation was queued.
    public let created: Date
    /// The number of attempts that may have reached the server.
    public let attempts: Int
    /// The state.
    public let state: State

    init(_ operation: StoredOperation, _ phase: ReplayQueue.Phase) {
        id = ID(operation.id)
        lane = operation.lane
        method = operation.message.method
        target = operation.message.target
        contentByteCount = operation.message.body.byteCount
        key = operation.key
        created = Date(timeIntervalSince1970: Double(operation.created) / 1_000)
        attempts = Int(operation.progress.attempts)
        state =
            switch phase {
            case .storing, .waiting: .waiting
            case .sending: .sending
            case .asking: .resolving
            case .stopped(let reason): .stopped(reason)
            }
    }
}

/// A report about an ended operation. The engine stores the report until the program acknowledges it, also across
/// restarts. If there are more reports than the limit in ``/CausewayHTTPProtocols/OfflineLimits``, the oldest is
/// removed.
public struct OfflineReport: Identifiable, Hashable, Sendable {
    /// The operation.
    public let id: OfflineOperation.ID
    /// The name of the operation's lane, which is a sequence of operations that are sent one after the other.
    public let lane: String
    /// The method.
    public let method: String
    /// The encoded path and query, relative to the client's base URL, or an absolute URL.
    public let target: String
    /// The `Idempotency-Key` value, without quotation marks, to find the operation at the server.
    public let key: String
    /// The number of attempts that may have reached the server.
    public let attempts: Int
    /// When the operation ended.
    public let ended: Date
    /// The outcome.
    public let outcome: OfflineOutcome

    init(_ report: StoredReport) {
        id = OfflineOperation.ID(report.id)
        lane = report.lane
        method = report.method
        target = report.target
        key = report.key
        attempts = Int(report.attempts)
        ended = Date(timeIntervalSince1970: Double(report.ended) / 1_000)
        outcome = report.outcome
    }
}
