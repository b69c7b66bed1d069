internal import CausewayWire

/// This side's settings, until the peer acknowledges them, and the round-trip time measured by the acknowledgment
/// (RFC 9113 §6.5.3).
struct HTTP2OwnSettings: Sendable {
    private let settings: HTTP2Settings
    private let timeout: Duration
    /// The transport's round-trip time, if it is known.
    private let transportRoundTrip: Duration?
    /// The time by which the peer must acknowledge the settings; `nil` after the acknowledgment.
    private(set) var deadline: Duration?
    /// The round-trip time; `nil` until the peer acknowledges the settings.
    private(set) var roundTrip: Duration?

    init(_ configuration: HTTP2Configuration) {
        settings = configuration.settings
        timeout = configuration.settingsTimeout
        transportRoundTrip = configuration.roundTrip
    }

    /// The maximum number of concurrent streams; `nil` until the peer knows it, and for no limit.
    var acknowledgedStreamLimit: Int? { deadline == nil ? settings.maxConcurrentStreams : nil }

    mutating func send(at now: Duration, _ output: inout HTTP2Output) {
        output.append(.settings(settings.changes(from: HTTP2Settings())))
        deadline = now + timeout
    }

    /// Records the acknowledgment.
    mutating func acknowledged(at now: Duration) throws(HTTP2Violation) {
        guard let end = deadline.take() else {
            throw HTTP2Violation(.protocolError, "acknowledgment of settings that were not sent")
        }
        roundTrip = bestRoundTrip(answeredAfter: now - (end - timeout))
    }

    /// Returns the round-trip time. The transport's measurement is usually the most accurate, because an acknowledgment
    /// also waits for both programs. But a device that splits the transport, as on satellite links, hides the path
    /// between the device and the peer. The acknowledgment then takes much longer, and its time is used.
    private func bestRoundTrip(answeredAfter time: Duration) -> Duration {
        guard let known = transportRoundTrip, time - known < .milliseconds(100) else { return time }
        return min(time, known)
    }
}
