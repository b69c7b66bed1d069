/// Decides when a reader of server-sent events reconnects (WHATWG HTML §9.2.3).
package struct EventReconnection: Sendable {
    /// The decision about a response: read its events, stop, or fail.
    package enum Verdict: Equatable, Sendable {
        /// The response is an event stream.
        case open
        /// The server stops the stream with status 204. The reader does not reconnect.
        case stop
        /// The response has another status or content type. The reader fails.
        case fail
    }

    /// The reconnection time, unless the stream sets another.
    package static let initialTime = Duration.seconds(3)
    /// The minimum and the maximum reconnection time that the stream can set. The minimum prevents a busy loop. The
    /// maximum prevents a reader that never reconnects.
    package static let bounds = Duration.milliseconds(100)...Duration.seconds(3_600)
    /// The maximum back-off after repeated failures, unless the stream sets a longer reconnection time.
    package static let longestBackoff = Duration.seconds(60)

    private var time = initialTime
    /// How many connections have failed since the latest event stream was opened.
    private var failures = 0

    package init() {}

    /// Sets the reconnection time from the stream's `retry` field, in milliseconds.
    package mutating func setTime(milliseconds: Int) {
        let longest = Int(Self.bounds.upperBound.components.seconds) * 1_000
        time = max(.milliseconds(min(milliseconds, longest)), Self.bounds.lowerBound)
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - status: The response status.
    ///   - mediaType: The type and subtype in lower case, without parameters.
    package mutating func responded(status: Int, mediaType: String?) -> Verdict {
        if status == 204 { return .stop }
        guard status == 200, mediaType == "text/event-stream" else { return .fail }
        failures = 0
        return .open
    }

    /// Returns the delay before the next connection. It doubles after each failure to connect.
    package mutating func delay(afterFailure isFailure: Bool) -> Duration {
        guard isFailure else { return time }
        let doublings = min(failures, 10)
        failures += 1
        return min(time * (1 << doublings), max(time, Self.longestBackoff))
    }
}
