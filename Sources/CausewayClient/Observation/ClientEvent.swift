/// A client event, for logs and user interfaces.
///
/// Observers from the product `CausewayObservability` write the session's tasks to swift-log, swift-metrics and swift-distributed-tracing:
/// set them in the `taskObservers` of ``HTTPClient/Configuration/session``.
public struct ClientEvent: Sendable, CustomStringConvertible {
    /// The kind of event.
    public enum Kind: Sendable {
        /// A program requested a response.
        case began
        /// The request shares the response to an equal request in flight.
        case shared
        /// The request waits until a large transfer is permitted, see ``MeteredPolicy``.
        case held
        /// The request is sent.
        case sent(attempt: Int)
        /// The request will be sent again, after a wait.
        case willRetry(after: Duration, because: String)
        /// The response was delivered to the program.
        case succeeded(status: Int)
        /// The request failed.
        case failed(HTTPClientError)
        /// The caller was cancelled.
        case cancelled
    }

    /// The call's number, starting at 1 in each client.
    public let call: UInt64
    /// The method and the URL without query, user and password.
    public let request: String
    /// The kind of event.
    public let kind: Kind

    /// The event in one line.
    public var description: String {
        let text =
            switch kind {
            case .began: "began"
            case .shared: "shares the response of an equal request"
            case .held: "waits for a network that is not metered"
            case .sent(let attempt): "sent, attempt \(attempt)"
            case .willRetry(let wait, let reason): "repeated in \(wait): \(reason)"
            case .succeeded(let status): "status \(status)"
            case .failed(let error): "failed: \(error.code)"
            case .cancelled: "cancelled"
            }
        return "\(call) \(request): \(text)"
    }
}
