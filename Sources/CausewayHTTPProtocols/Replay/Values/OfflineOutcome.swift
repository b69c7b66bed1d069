/// How an operation in an offline queue ended. Each operation has exactly one outcome.
public enum OfflineOutcome: Hashable, Sendable {
    /// Why an operation was given up.
    public enum Expiry: UInt8, Hashable, Sendable {
        /// The operation became too old.
        case age
        /// The operation reached its maximum number of attempts.
        case attempts
    }

    /// The server accepted the operation, with a status below 400.
    case succeeded(status: Int)
    /// The server refused the operation, because the resource has changed: status 409 or 412.
    case conflicted(status: Int)
    /// The server refused the operation with another status.
    case rejected(status: Int)
    /// The operation was given up.
    case expired(Expiry)
    /// The operation may or may not have taken effect: see ``OfflinePolicy/UnknownFate``.
    case unknown
    /// The program cancelled the operation. `mayHaveBeenSent` is `true` if an attempt may have reached the server.
    case cancelled(mayHaveBeenSent: Bool)
    /// The operation cannot be sent: for example, its file is missing or has changed. The text is the reason.
    case invalid(String)

    /// Whether the server accepted the operation.
    public var isSuccess: Bool { if case .succeeded = self { true } else { false } }
}

/// The reason why sending has stopped at an operation. The operations after it in the same lane must wait.
public enum OfflineStop: Hashable, Sendable {
    /// The server refused the operation with this status.
    case refused(status: Int)
    /// The operation may or may not have taken effect.
    case unknownFate
}

/// A decision about an operation that the server has refused.
public enum OfflineDecision<Request: Sendable>: Sendable {
    /// The operation ends with a report.
    case drop
    /// Sending stops at the operation. The operations after it in the same lane must wait.
    case stop
    /// The operation is sent again unchanged, after a back-off.
    case retry
    /// The operation is sent with another request and a new `Idempotency-Key`. It keeps its place in its lane, the list
    /// of operations that are sent one after another. If the new request cannot be stored or exceeds a limit, sending
    /// stops at the operation.
    case rewrite(Request)
}

/// How an attempt to send an operation ended.
package enum AttemptEnd: Hashable, Sendable {
    /// A response arrived. `retryAfter` is its `Retry-After` value.
    case response(status: Int, retryAfter: Duration? = nil)
    /// The server could not be reached. No byte of the request was sent.
    case noWay
    /// The server refused a request of the attempt without applying it, and could not be reached for the next one.
    case noWayAfterRefusal
    /// The connection failed after the request may have reached the server.
    case lost
    /// The request cannot be sent.
    case invalid(String)
    /// No complete request was sent: the record `began` could not be stored, the content could not be read, or the
    /// program has stopped the offline engine.
    case notSent
    /// The attempt was cancelled, for example because the program stopped the offline engine.
    case interrupted
}
