/// The limits and timeouts of a server connection.
package struct HTTPServerLimits: Sendable {
    /// The maximum request head length in bytes.
    package var headByteCount = 64 << 10
    /// The maximum field count in a request.
    package var fieldCount = 1_000
    /// The maximum request target length in bytes (RFC 9110 §15.5.15).
    package var targetByteCount = 16 << 10
    /// The maximum request content length in bytes.
    package var contentByteCount = 16 << 20
    /// Whether to refuse requests without a content length (RFC 9110 §15.5.12).
    package var requiresContentLength = false
    /// The request count at which the connection closes.
    package var requestCount = 100_000
    /// The maximum number of concurrent requests on an HTTP/2 connection.
    package var concurrentRequestCount = 100
    /// The maximum request content in bytes that the program has not consumed.
    package var unreadByteCount = 256 << 10
    /// The timeout for a request head, and for the first bytes on a connection.
    package var headTime: Duration = .seconds(20)
    /// The time after which an idle connection closes.
    package var idleTime: Duration = .seconds(75)
    /// The minimum transfer rate for a client that sends content or reads a response, in bytes per second; 0 for none.
    package var minimumRate = 500
    /// The time for which a client may stay below ``minimumRate``.
    package var stallTime: Duration = .seconds(20)

    package init() {}
}

/// Enforces a minimum transfer rate while the connection waits for its peer.
///
/// The peer starts with a time allowance, which runs down while the connection waits. Each byte that the peer sends or
/// accepts extends the allowance by the time for one byte at the minimum rate. The allowance never exceeds its initial
/// value. A pause stops the clock but does not restore the allowance, so a slow peer gains nothing by causing pauses.
package struct ProgressWatch: Sendable {
    private let rate: Int
    private let allowance: Duration
    private var rest: Duration
    /// The time at which the peer's time allowance ends. `nil` while the connection does not wait for the peer.
    package private(set) var deadline: Duration?

    package init(minimumRate rate: Int, allowance: Duration) {
        self.rate = rate
        self.allowance = allowance
        rest = allowance
    }

    /// Records whether the connection waits for its peer. The peer's remaining time decreases only while the connection
    /// waits.
    package mutating func setWaiting(_ isWaiting: Bool, at now: Duration) {
        guard rate > 0 else { return }
        if isWaiting {
            if deadline == nil { deadline = now + rest }
        } else if let end = deadline {
            rest = max(.zero, min(allowance, end - now))
            deadline = nil
        }
    }

    /// Records that the peer sent or accepted bytes.
    package mutating func moved(_ count: Int, at now: Duration) {
        guard rate > 0 else { return }
        let gain = count >= rate * 3_600 ? allowance : .seconds(1) * (Double(count) / Double(rate))
        if let end = deadline {
            deadline = min(max(end, now) + gain, now + allowance)
        } else {
            rest = min(rest + gain, allowance)
        }
    }

    /// Restores the peer's full time allowance for its next message.
    package mutating func restart() {
        rest = allowance
        deadline = nil
    }
}
