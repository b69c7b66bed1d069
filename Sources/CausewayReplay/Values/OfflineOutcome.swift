/// The end of an operation of an offline queue. Each operation has exactly one.
public enum OfflineOutcome: Hashable, Sendable {
    /// The reason for giving up.
    public enum Expiry: UInt8, Hashable, Sendable {
        /// The operation became too old.
        case age
        /// The operation was sent as often as the rules permit.
        case attempts
    }

    /// The server accepted the operation, with a status below 400.
    case succeeded(status: Int)
    /// The server refused the operation, because the resource has changed: status 409 or 412.
    case conflicted(status: Int)
    /// The server refused the operation.
    case rejected(status: Int)
    /// The operation was given up.
    case expired(Expiry)
    /// The operation may or may not have had its effect: see ``OfflinePolicy/UnknownFate``.
    case unknown
    /// The program cancelled the operation. `mayHaveBeenSent` is true if an attempt may have reached the server.
    case cancelled(mayHaveBeenSent: Bool)
    /// The operation cannot be sent: for example, its file is missing or has changed. The text is the reason.
    case invalid(String)

    /// Whether the server accepted the operation.
    public var isSuccess: Bool { if case .succeeded = self { true } else { false } }
}

/// The reason why a lane has stopped at an operation.
public enum OfflineStop: Hashable, Sendable {
    /// The server refused the operation with this status.
    case refused(status: Int)
    /// The operation may or may not have had its effect.
    case unknownFate
}

/// The decision about an operation that the server has refused.
public enum OfflineDecision<Request: Sendable>: Sendable {
    /// The operation ends with a report.
    case drop
    /// The lane stops at the operation.
    case stop
    /// The operation is sent again as it is, after a wait.
    case retry
    /// The operation is sent with another request and a new key, at the same place in its lane.
    case rewrite(Request)
}

/// The end of an attempt to send an operation.
package enum AttemptEnd: Hashable, Sendable {
    /// A response arrived. `retryAfter` is the wait that it demands.
    case response(status: Int, retryAfter: Duration? = nil)
    /// There was no way to the server: no byte of the request has left.
    case noWay
    /// The connection failed when the request may have reached the server.
    case lost
    /// The request cannot be sent.
    case invalid(String)
    /// The intent could not be stored, so the request was not sent.
    case notStored
    /// The engine stopped during the attempt.
    case interrupted
}
