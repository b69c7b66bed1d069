internal import CausewayWire

/// This side's settings, until the peer acknowledges them (RFC 9113 §6.5.3). The acknowledgment also measures the
/// round-trip time.
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

    /// The maximum number of concurrent streams; `nil` if there is no limit. Also `nil` until the peer has acknowledged
    /// the settings.
    var acknowledgedStreamLimit: Int? { deadline == nil ? settings.maxConcurrentStreams : nil }

    mutating func send(at now: Duration, _ output: inout HTTP2Output) {
        output.append(.settings(settings.changes(from: HTTP2Settings())))
        deadline = now + timeout
    }

    /// Records that the peer has acknowledged the settings.
    mutating func acknowledged(at now: Duration) throws(HTTP2Violation) {
        guard let end = deadline.take() else {
            throw HTTP2Violation(.protocolError, "acknowledgment of settings that were not sent")
        }
        roundTrip = bestRoundTrip(answeredAfter: now - (end - timeout))
    }

    /// Returns the best known round-trip time of the connection.
    ///
    /// There are two values: the transport's measurement, and the time until the peer acknowledged the settings. The
    /// transport's measurement is usually more accurate, because both programs delay an acknowledgment.
    ///
    /// But some devices, for example on satellite links, end the transport and begin another one to the peer. The
    /// transport's measurement then lacks the path beyond the device. So if the acknowledgment takes much longer, this
    /// method returns the acknowledgment's time.
    private func bestRoundTrip(answeredAfter time: Duration) -> Duration {
        guard let known = transportRoundTrip, time - known < .milliseconds(100) else { return time }
        return min(time, known)
    }
}
