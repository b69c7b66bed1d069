package import CausewayWire

/// The choices of one side of an HTTP/2 connection.
package struct HTTP2Configuration: Sendable {
    /// The settings to announce. Push is always disabled.
    package var settings: HTTP2Settings
    /// The window of the whole connection in bytes: the maximum amount of content that waits for the program.
    package var connectionWindow = 16 << 20
    /// The time within which the peer has to acknowledge settings (RFC 9113 §6.5.3), and the time that a graceful end allows for requests
    /// in flight.
    package var settingsTimeout: Duration = .seconds(10)
    /// The maximum number of fields of a message.
    package var maximumFieldCount = 1000
    /// The number of resets, or of frames without effect, that a peer may send at once.
    package var floodBurst = 1000
    /// The number of them that a peer may send per second in the long run.
    package var floodRate = 33

    /// Creates the default choices: windows of 4 MiB, field sections of 64 KiB, 100 concurrent streams.
    package init() {
        var settings = HTTP2Settings()
        settings.enablesPush = false
        settings.maxConcurrentStreams = 100
        settings.initialWindowSize = 4 << 20
        settings.maxHeaderListSize = 64 << 10
        settings.hasNoRFC7540Priorities = true
        self.settings = settings
    }

    /// Returns the choices with values that a peer of the role accepts.
    func validated(for role: HTTP2Connection.Role) -> HTTP2Configuration {
        var valid = self
        valid.settings.enablesPush = false
        valid.settings.initialWindowSize = min(max(0, settings.initialWindowSize), HTTP2Settings.largestWindow)
        valid.settings.maxFrameSize = min(max(16384, settings.maxFrameSize), 0xFF_FFFF)
        valid.connectionWindow = min(max(65535, connectionWindow), HTTP2Settings.largestWindow)
        // A server opens no streams without push, so a client has nothing to limit; only a server accepts requests.
        if role == .client {
            valid.settings.maxConcurrentStreams = nil
            valid.settings.enablesConnectProtocol = false
        }
        return valid
    }
}

/// The reason why a stream was closed before both messages were complete.
package enum HTTP2StreamFailure: Error, Equatable, Sendable {
    /// The peer reset the stream.
    case reset(HTTP2ErrorCode)
    /// The peer guarantees that it did not process the request, which can be sent again on another connection (RFC 9113 §8.7).
    case unprocessed
    /// The peer violated the protocol on this stream, or its message is malformed.
    case violation(HTTP2Violation)
    /// The peer's field section exceeds the limits of this side.
    case fieldsTooLarge
    /// The program reset the stream.
    case cancelled
    /// The connection ended. Whether the peer processed the request is not known.
    case connectionEnded

    /// Whether the request may be sent again even if it is not idempotent.
    package var isSafeToRetry: Bool { self == .unprocessed }
}

/// The reason why a connection ended other than at the wish of the program.
package enum HTTP2ConnectionFailure: Error, Equatable, Sendable {
    /// The peer violated the protocol. The GOAWAY frame is in the output.
    case violation(HTTP2Violation)
    /// The peer reported an error and ended the connection.
    case goAway(HTTP2ErrorCode, debugData: [UInt8])
    /// The stream of bytes ended while requests were open, or inside a frame.
    case endedEarly
    /// The owner called ``HTTP2Connection/abort()``.
    case aborted
}

/// The reason why a call of the program has no effect.
package enum HTTP2Refusal: Error, Equatable, Sendable {
    /// The connection accepts no new requests: use another one.
    case closing
    /// All stream identifiers of the connection are used: use another one (RFC 9113 §5.1.1).
    case exhausted
    /// The head cannot be sent. The text names the part.
    case invalid(String)
    /// The stream is closed, or its state does not permit the call.
    case closed
}
