package import CausewayWire

/// The configuration for one side of an HTTP/2 connection.
package struct HTTP2Configuration: Sendable {
    /// The settings to send. Push is always disabled (RFC 9113 §8.4).
    package var settings: HTTP2Settings
    /// The maximum stream flow-control window in bytes. The initial size is in the settings.
    package var maximumStreamWindow = 4 << 20
    /// The transport's round-trip time; `nil` if it is unknown, or if the transport ends at a proxy and not at the
    /// peer.
    package var roundTrip: Duration?
    /// The connection flow-control window in bytes. It limits received content that the program has not consumed.
    package var connectionWindow = 16 << 20
    /// The timeout for the peer's settings acknowledgment (RFC 9113 §6.5.3). It is also the maximum time for which a
    /// graceful shutdown waits for requests in flight.
    package var settingsTimeout: Duration = .seconds(10)
    /// How long a server that has sent its whole response waits for the rest of the request. After this time, the
    /// server resets the stream.
    package var drainTime: Duration = .milliseconds(500)
    /// The maximum field count per message.
    package var maximumFieldCount = 1000
    /// The identifier of a client's first stream.
    package var firstStreamID: HTTP2StreamID = 1
    /// The maximum number of resets that the peer may send in a burst. The same limit applies to frames that do not
    /// continue a message, such as pings and empty frames.
    package var floodBurst = 1000
    /// The maximum number of resets that the peer may send per second in the long term. The same number applies to
    /// frames that advance no message, such as pings and empty frames.
    package var floodRate = 33

    /// Creates the default configuration: initial stream windows of 1 MiB, field sections up to 64 KiB, 100 concurrent streams.
    package init() {
        var settings = HTTP2Settings()
        settings.enablesPush = false
        settings.maxConcurrentStreams = 100
        settings.initialWindowSize = 1 << 20
        settings.maxHeaderListSize = 64 << 10
        settings.hasNoRFC7540Priorities = true
        self.settings = settings
    }

    /// Returns the configuration with every value clamped to the range valid for the role.
    func validated(for role: HTTP2Connection.Role) -> HTTP2Configuration {
        var valid = self
        valid.settings.enablesPush = false
        valid.settings.initialWindowSize = min(max(0, settings.initialWindowSize), HTTP2Settings.largestWindow)
        valid.maximumStreamWindow = min(
            max(valid.settings.initialWindowSize, maximumStreamWindow), HTTP2Settings.largestWindow)
        valid.settings.maxFrameSize = min(max(16384, settings.maxFrameSize), 0xFF_FFFF)
        valid.connectionWindow = min(max(65535, connectionWindow), HTTP2Settings.largestWindow)
        // The client forbids server push, so the server opens no streams and the client needs no limit for them. Only
        // servers receive requests, so the client also omits the setting for extended CONNECT.
        if role == .client {
            valid.settings.maxConcurrentStreams = nil
            valid.settings.enablesConnectProtocol = false
        }
        return valid
    }
}

/// The reason why an HTTP/2 stream closed before request and response were complete.
package enum HTTP2StreamFailure: Error, Equatable, Sendable {
    /// The peer reset the stream.
    case reset(HTTP2ErrorCode)
    /// The peer guarantees that it did not process the request. The request can be retried on another connection
    /// (RFC 9113 §8.7).
    case unprocessed
    /// The peer violated the protocol on this stream, or its message is malformed.
    case violation(HTTP2Violation)
    /// The peer's field section exceeds this side's limits.
    case fieldsTooLarge
    /// The program reset the stream.
    case cancelled
    /// The connection ended. It is unknown whether the peer processed the request.
    case connectionEnded

    /// Whether the request may be retried even if it is not idempotent.
    package var isSafeToRetry: Bool { self == .unprocessed }
}

/// The reason why a connection ended abnormally.
package enum HTTP2ConnectionFailure: Error, Equatable, Sendable {
    /// The peer violated the protocol. The output contains the GOAWAY frame.
    case violation(HTTP2Violation)
    /// The peer reported an error and ended the connection.
    case goAway(HTTP2ErrorCode, debugData: [UInt8])
    /// The byte stream ended too early: before the peer's SETTINGS frame, inside a frame, or while streams were open.
    case endedEarly
    /// The program ended the connection with ``HTTP2Connection/abort(_:)``.
    case aborted
}

/// The reason why the connection rejects a method call by the program.
package enum HTTP2Refusal: Error, Equatable, Sendable {
    /// The connection accepts no new requests. Use another connection.
    case closing
    /// All stream identifiers are used. Use another connection (RFC 9113 §5.1.1).
    case exhausted
    /// The head cannot be sent. The text names the invalid part.
    case invalid(String)
    /// The stream is closed, or its state does not permit the call.
    case closed
}
