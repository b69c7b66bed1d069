/// The limits and timeouts of one connection of a server.
package struct HTTPServerLimits: Sendable {
    /// The maximum length of a request head in bytes.
    package var headByteCount = 64 << 10
    /// The maximum number of fields of a request.
    package var fieldCount = 1_000
    /// The maximum length of a request target in bytes (RFC 9110 §15.5.15).
    package var targetByteCount = 16 << 10
    /// The maximum length of the content of a request in bytes.
    package var contentByteCount = 16 << 20
    /// Whether to refuse requests whose content has no stated length (RFC 9110 §15.5.12).
    package var requiresContentLength = false
    /// The number of requests after which the connection closes.
    package var requestCount = 100_000
    /// The maximum number of concurrent requests of an HTTP/2 connection.
    package var concurrentRequestCount = 100
    /// The maximum number of content bytes of a request that wait for the program.
    package var unreadByteCount = 256 << 10
    /// The time within which a request head must arrive; also for the first bytes of a connection.
    package var headTime: Duration = .seconds(20)
    /// The time after which a connection without requests closes.
    package var idleTime: Duration = .seconds(75)
    /// The minimum rate of a client that sends content or reads a response, in bytes per second; 0 for none.
    package var minimumRate = 500
    /// The time during which a client may be slower than ``minimumRate``.
    package var stallTime: Duration = .seconds(20)

    package init() {}
}

/// Measures whether a peer is faster than a minimum rate, while it is the peer's turn.
///
/// The peer starts with an allowance of time. The allowance runs down while the watch waits for the peer, and each byte restores the time
/// that it may take at the minimum rate. A pause keeps the allowance, so pauses that a peer causes do not help it.
package struct ProgressWatch: Sendable {
    private let rate: Int
    private let allowance: Duration
    private var rest: Duration
    /// The time at which the allowance is used up; `nil` while the watch does not wait for the peer.
    package private(set) var deadline: Duration?

    package init(minimumRate rate: Int, allowance: Duration) {
        self.rate = rate
        self.allowance = allowance
        rest = allowance
    }

    /// Starts or pauses the watch.
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

    /// Restores the whole allowance, for the next message.
    package mutating func restart() {
        rest = allowance
        deadline = nil
    }
}
