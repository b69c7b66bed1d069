/// Decides when the reader of server-sent events connects again (WHATWG HTML §9.2.3).
package struct EventReconnection: Sendable {
    /// The result of a response.
    package enum Verdict: Equatable, Sendable {
        /// Events follow.
        case open
        /// The server ends the sequence: status 204.
        case stop
        /// The response has another status or content type. The reader fails.
        case fail
    }

    /// The time between two connections, unless the stream sets another.
    package static let initialTime = Duration.seconds(3)
    /// The bounds of a time that the stream sets, so that a server can cause neither a busy loop nor a silent reader.
    package static let bounds = Duration.milliseconds(100)...Duration.seconds(3_600)
    /// The maximum time after several failures, unless the stream sets a longer one.
    package static let longestBackoff = Duration.seconds(60)

    private var time = initialTime
    /// The number of failures since the last event stream.
    private var failures = 0

    package init() {}

    /// Sets the time that the stream requested, in milliseconds.
    package mutating func setTime(milliseconds: Int) {
        let longest = Int(Self.bounds.upperBound.components.seconds) * 1_000
        time = max(.milliseconds(min(milliseconds, longest)), Self.bounds.lowerBound)
    }

    /// Judges a response.
    ///
    /// - Parameter mediaType: The type and subtype in lower case, without parameters.
    package mutating func responded(status: Int, mediaType: String?) -> Verdict {
        if status == 204 { return .stop }
        guard status == 200, mediaType == "text/event-stream" else { return .fail }
        failures = 0
        return .open
    }

    /// Returns the time to wait after the end of a connection. Doubles it after each failure to connect.
    package mutating func delay(afterFailure isFailure: Bool) -> Duration {
        guard isFailure else { return time }
        let doublings = min(failures, 10)
        failures += 1
        return min(time * (1 << doublings), max(time, Self.longestBackoff))
    }
}
