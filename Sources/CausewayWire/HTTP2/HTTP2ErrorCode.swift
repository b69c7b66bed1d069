/// A stream or connection error code (RFC 9113 §7).
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2ErrorCode(rawValue: 0x0)
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    package static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    package static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    package static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    package static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    package static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    package static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    package static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    package static let connectError = HTTP2ErrorCode(rawValue: 0xA)
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
    package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xC)
    package static let http11Required = HTTP2ErrorCode(rawValue: 0xD)
}

extension HTTP2ErrorCode: CustomStringConvertible {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The code's name in RFC 9113, or its number.
    package var description: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}

/// A stream identifier, at most 2^31-1. 0 identifies the connection (RFC 9113 §5.1.1).
package typealias HTTP2StreamID = UInt32

extension HTTP2StreamID {
    /// The largest stream identifier.
    package static let largestStream: HTTP2StreamID = 0x7FFF_FFFF
}

/// A violation of RFC 9113 by the peer.
package struct HTTP2Violation: Error, Equatable, Sendable {
    /// An error's scope (RFC 9113 §5.4).
    package enum Scope: Equatable, Sendable {
        case connection
        case stream(HTTP2StreamID)
    }

    package var code: HTTP2ErrorCode
    package var scope: Scope
    /// A description of the error that names the invalid element.
    package var reason: String

    /// Creates a connection error.
    package init(_ code: HTTP2ErrorCode, _ reason: String) {
        self.code = code
        self.scope = .connection
        self.reason = reason
    }

    /// Creates a stream error.
    package init(_ code: HTTP2ErrorCode, stream: HTTP2StreamID, _ reason: String) {
        self.code = code
        self.scope = .stream(stream)
        self.reason = reason
    }
}

extension HTTP2Violation: CustomStringConvertible {
    /// The violation as text.
    package var description: String {
        switch scope {
        case .connection: "\(code): \(reason)"
        case .stream(let id): "\(code) on stream \(id): \(reason)"
        }
    }
}
