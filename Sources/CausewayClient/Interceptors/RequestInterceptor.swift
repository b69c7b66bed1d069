public import CausewayURLLoading

/// Changes a client's requests before they are sent, and decides about failed attempts. A client calls its interceptors in order.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send. Called before each attempt.
    ///
    /// Cancellation: the task that runs this method is cancelled when the program cancels the call that sends the
    /// request, or all calls that wait for the response. If other calls still wait, the request is sent again for them.
    ///
    /// - Parameters:
    ///   - request: The request so far.
    ///   - attempt: The attempt's number, starting at 1.
    /// - Throws: Any error; the request then fails with ``HTTPClientError/Code/interceptor``.
    func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest

    /// Decides what to do after an attempt that failed, or whose status is 400 or higher. The first interceptor that
    /// does not return ``RetryAdvice/pass`` decides. If all interceptors return ``RetryAdvice/pass``, the
    /// ``RetryPolicy`` decides.
    func advice(after failure: AttemptFailure) async -> RetryAdvice
}

extension RequestInterceptor {
    /// Returns the request unchanged.
    public func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest { request }

    /// Returns ``RetryAdvice/pass``.
    public func advice(after failure: AttemptFailure) async -> RetryAdvice { .pass }
}

/// An interceptor's decision about a failed attempt.
public enum RetryAdvice: Hashable, Sendable {
    /// The interceptor makes no decision. Another interceptor or the policy decides.
    case pass
    /// The request fails.
    case fail
    /// The request is sent again after a wait if it is idempotent. A request that is not idempotent fails.
    case retry(after: Duration)
    /// The request is sent again at once, even if it is not idempotent. Use this only if the response proves that the
    /// server did not apply the request. Status 401 is such a proof.
    case resend
}

/// An attempt without success: it failed, or the status of its response is 400 or higher.
public struct AttemptFailure: Sendable {
    /// The request as it was sent.
    public let request: URLRequest
    /// The attempt's number, starting at 1.
    public let attempt: Int
    /// How often the request was repeated because of ``RetryAdvice/resend``.
    public let resends: Int
    /// The response; `nil` if none arrived.
    public let response: HTTPURLResponse?
    /// The transport error; `nil` if there is a response.
    public let error: (any Error)?
    /// Whether the request may be repeated although the server may have applied it. The value is `false` for operations
    /// of an offline queue, which decides about repetitions itself.
    public let isIdempotent: Bool
}

/// An interceptor made from a closure that changes requests.
public struct RequestAdapter: RequestInterceptor {
    private let change: @Sendable (inout URLRequest) async throws -> Void

    /// Creates an interceptor.
    ///
    /// - Parameter change: Changes a request before each attempt.
    public init(_ change: @escaping @Sendable (inout URLRequest) async throws -> Void) { self.change = change }

    /// Returns the request after the closure has changed it.
    public func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest {
        var request = request
        try await change(&request)
        return request
    }
}
