public import Foundation

/// Decides whether and when a failed request is sent again: exponential back-off with full jitter.
///
/// The delay before repetition *n* is a random time between zero and `baseDelay` × 2ⁿ⁻¹, but at most ``maximumDelay``.
/// Random delays keep clients from repeating in step after a common failure. The server's `Retry-After` is added to the
/// random delay (RFC 9110 §10.2.3).
///
/// Only idempotent requests are repeated: see ``ClientRequest/isIdempotent``.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts.
    public var maximumAttempts = 3
    /// The upper bound for the random delay before the first retry.
    public var baseDelay = Duration.milliseconds(500)
    /// The upper bound for every random delay.
    public var maximumDelay = Duration.seconds(30)
    /// The longest `Retry-After` to obey. The request fails at once if the server demands more.
    public var maximumRetryAfter = Duration.seconds(120)
    /// The statuses after which a request is repeated.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The transport errors after which a request is repeated.
    public var errors: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet,
        .badServerResponse, .secureConnectionFailed,
    ]

    /// Creates the default policy.
    public init() {}

    /// A policy with at most three attempts.
    public static let standard = RetryPolicy()
    /// A policy with one attempt: requests are never repeated.
    public static let never: RetryPolicy = {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }()

    /// How an unsuccessful attempt ended.
    enum Outcome: Equatable, Sendable {
        /// A response arrived. The values are its status, and the delay that its `Retry-After` field demands.
        case status(Int, retryAfter: Duration?)
        case error(URLError.Code)
    }

    /// Decides about a failed attempt.
    ///
    /// - Parameters:
    ///   - outcome: How the attempt ended.
    ///   - attempt: The number of attempts so far, at least 1.
    ///   - isIdempotent: Whether the request may be repeated.
    ///   - random: The jitter's random source.
    /// - Returns: The delay before the next attempt; `nil` if there is none.
    func delay(
        after outcome: Outcome, attempt: Int, isIdempotent: Bool, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard isIdempotent, attempt < maximumAttempts else { return nil }
        var minimum = Duration.zero
        switch outcome {
        case .status(let status, let retryAfter):
            guard statuses.contains(status) else { return nil }
            minimum = retryAfter ?? .zero
            guard minimum <= maximumRetryAfter else { return nil }
        case .error(let code):
            guard errors.contains(code) else { return nil }
        }
        let part = Double.random(in: 0...1, using: &random)
        return minimum + Self.product(bound(after: attempt), part)
    }

    /// Returns the upper bound for the random delay after an attempt.
    func bound(after attempt: Int) -> Duration {
        // Limit the delay to a day. Programs do not wait longer for a response, and a much longer delay in nanoseconds
        // would exceed 64 bits.
        let limit = min(max(maximumDelay, .zero), .seconds(86_400))
        var bound = min(max(baseDelay, .zero), limit)
        var doublings = attempt - 1
        while doublings > 0, bound > .zero, bound != limit {
            bound = min(bound * 2, limit)
            doublings -= 1
        }
        return bound
    }

    private static func product(_ duration: Duration, _ factor: Double) -> Duration {
        .nanoseconds(Int64((duration / .nanoseconds(1)) * factor))
    }
}
