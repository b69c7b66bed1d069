public import CausewayURLLoading

/// Changes the requests of a client before they are sent, and judges failed attempts. A client calls its interceptors in order.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send. Called before each attempt.
    ///
    /// Cancellation: the calling task is cancelled when nothing waits for the response.
    ///
    /// - Parameters:
    ///   - request: The request so far.
    ///   - attempt: The number of this attempt, from 1 on.
    /// - Throws: Any error; the request then fails with ``HTTPClientError/Code/interceptor``.
    func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest

    /// Returns what to do after an attempt that failed, or whose status is 400 or higher. The first interceptor that does not pass decides; otherwise the
    /// ``RetryPolicy`` does.
    func advice(after failure: AttemptFailure) async -> RetryAdvice
}

extension RequestInterceptor {
    /// Returns the request unchanged.
    public func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest { request }

    /// Passes.
    public func advice(after failure: AttemptFailure) async -> RetryAdvice { .pass }
}

/// The decision of an interceptor about a failed attempt.
public enum RetryAdvice: Hashable, Sendable {
    /// Another interceptor or the policy decides.
    case pass
    /// The request fails.
    case fail
    /// The request is sent again after a wait, if it is idempotent. Otherwise it fails.
    case retry(after: Duration)
    /// The request is sent again at once, even if it is not idempotent. Only for responses that prove that the server did not apply the request, such as status 401.
    case resend
}

/// An attempt that failed, or whose status is 400 or higher.
public struct AttemptFailure: Sendable {
    /// The request as it was sent.
    public let request: URLRequest
    /// The number of the attempt, from 1 on.
    public let attempt: Int
    /// The number of times that ``RetryAdvice/resend`` was obeyed for the request.
    public let resends: Int
    /// The response; `nil` if none arrived.
    public let response: HTTPURLResponse?
    /// The error of the transport; `nil` if there is a response.
    public let error: (any Error)?
    /// Whether the request may be repeated without its server's consent.
    public let isIdempotent: Bool
}

/// An interceptor from a closure that changes requests.
public struct RequestAdapter: RequestInterceptor {
    private let change: @Sendable (inout URLRequest) async throws -> Void

    /// Creates an interceptor.
    ///
    /// - Parameter change: Changes a request before each attempt.
    public init(_ change: @escaping @Sendable (inout URLRequest) async throws -> Void) { self.change = change }

    /// Returns the changed request.
    public func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest {
        var request = request
        try await change(&request)
        return request
    }
}
