import CausewayHTTPProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Decides whether `nw http` makes another attempt (`--retry`), and how long it waits before.
struct HTTPRetry: Sendable {
    /// The maximum wait before another attempt. It limits the delay that a server requests, and the delay that doubles
    /// after each attempt.
    private static let longestWait = Duration.seconds(600)
    /// Statuses after which another attempt may succeed.
    private static let temporaryStatuses = [408, 425, 429, 500, 502, 503, 504]

    var limit = 0
    /// The fixed delay between attempts; `nil` for a delay that begins with 1 second and doubles.
    var delay: Duration?
    private(set) var count = 0

    init() {}

    init(limit: Int, delay: Duration?) {
        self.limit = limit
        self.delay = delay
    }

    /// Returns the delay before the next attempt; `nil` if this response is final.
    func wait(after head: HTTPResponseHead) -> Duration? {
        guard count < limit, Self.temporaryStatuses.contains(head.status) else { return nil }
        let now = Int(Date().timeIntervalSince1970)
        let asked = head.fields.onlyValue(of: "Retry-After").flatMap { RetryAfter(parsing: $0, now: now) }
            .map { Duration.seconds($0.delay(now: now)) }
        return max(min(asked ?? .zero, Self.longestWait), pause)
    }

    /// Returns the delay before the next attempt; `nil` if no further attempt follows this failure.
    func wait(after failure: HTTPCommandFailure) -> Duration? {
        guard count < limit else { return nil }
        switch failure.code {
        case .notConnected, .partial, .noResponse, .timedOut: return pause
        case .other, .unresolved, .invalidResponse, .status, .write, .read, .noRange, .handshake, .redirects,
            .proxyRefused, .notTrusted, .coding, .tooLarge:
            return nil
        }
    }

    private var pause: Duration { delay ?? min(Self.longestWait, .seconds(1 << min(count, 10))) }

    mutating func again() { count += 1 }
}
