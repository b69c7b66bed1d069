/// A frame type (RFC 9113 §6, RFC 9218 §7.1).
package struct HTTP2FrameType: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let data = HTTP2FrameType(rawValue: 0x0)
    package static let headers = HTTP2FrameType(rawValue: 0x1)
    package static let priority = HTTP2FrameType(rawValue: 0x2)
    package static let resetStream = HTTP2FrameType(rawValue: 0x3)
    package static let settings = HTTP2FrameType(rawValue: 0x4)
    package static let pushPromise = HTTP2FrameType(rawValue: 0x5)
    package static let ping = HTTP2FrameType(rawValue: 0x6)
    package static let goAway = HTTP2FrameType(rawValue: 0x7)
    package static let windowUpdate = HTTP2FrameType(rawValue: 0x8)
    package static let continuation = HTTP2FrameType(rawValue: 0x9)
    package static let priorityUpdate = HTTP2FrameType(rawValue: 0x10)
}

/// Frame flags. Their meaning depends on the type (RFC 9113 §6).
package struct HTTP2FrameFlags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The sender of the DATA or HEADERS frame ends its direction of the stream.
    package static let endStream = HTTP2FrameFlags(rawValue: 0x01)
    /// The SETTINGS or PING frame acknowledges a peer's frame.
    package static let acknowledgment = HTTP2FrameFlags(rawValue: 0x01)
    /// The HEADERS, PUSH_PROMISE or CONTINUATION frame ends its field block.
    package static let endHeaders = HTTP2FrameFlags(rawValue: 0x04)
    /// The DATA, HEADERS or PUSH_PROMISE frame has padding.
    package static let padded = HTTP2FrameFlags(rawValue: 0x08)
    /// The HEADERS frame has priority fields.
    package static let priority = HTTP2FrameFlags(rawValue: 0x20)
}

/// A frame header (RFC 9113 §4.1).
///
/// ```
/// +-----------------------------------------------+
/// |                 Length (24)                   |
/// +---------------+---------------+---------------+
/// |   Type (8)    |   Flags (8)   |
/// +-+-------------+---------------+---------------+---------------+
/// |R|                 Stream Identifier (31)                      |
/// +-+-------------------------------------------------------------+
/// ```
package struct HTTP2FrameHeader: Equatable, Sendable {
    /// Header size in bytes.
    package static let byteCount = 9

    /// Payload size in bytes.
    package var length: Int
    package var type: HTTP2FrameType
    package var flags: HTTP2FrameFlags
    package var streamID: HTTP2StreamID

    package init(length: Int, type: HTTP2FrameType, flags: HTTP2FrameFlags = [], streamID: HTTP2StreamID) {
        self.length = length
        self.type = type
        self.flags = flags
        self.streamID = streamID
    }

    /// Parses a header. Ignores the reserved bit (RFC 9113 §4.1).
    ///
    /// - Parameter bytes: At least ``byteCount`` bytes. If there are fewer, the result is `nil`.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.byteCount else { return nil }
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        type = HTTP2FrameType(rawValue: bytes[3])
        flags = HTTP2FrameFlags(rawValue: bytes[4])
        let high = UInt32(bytes[5] & 0x7F) << 24 | UInt32(bytes[6]) << 16
        streamID = high | UInt32(bytes[7]) << 8 | UInt32(bytes[8])
    }

    /// Appends the encoded header.
    package func serialize(into bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: length >> 16))
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: length))
        bytes.append(type.rawValue)
        bytes.append(flags.rawValue)
        bytes.append(bigEndian: streamID)
    }

    /// Checks the rules that depend only on the frame header. So the payload of an invalid frame is never buffered (RFC
    /// 9113 §4.2, §6).
    package func check() throws(HTTP2Violation) {
        switch type {
        case .data, .headers, .priority, .resetStream, .pushPromise, .continuation:
            guard streamID != 0 else { throw HTTP2Violation(.protocolError, "\(name) frame on stream 0") }
        case .settings, .ping, .goAway, .priorityUpdate:
            guard streamID == 0 else { throw HTTP2Violation(.protocolError, "\(name) frame on a stream") }
        default: break
        }
        let isRightSize =
            switch type {
            case .resetStream, .windowUpdate: length == 4
            case .settings where flags.contains(.acknowledgment): length == 0
            case .settings: length % 6 == 0
            case .ping: length == 8
            case .goAway: length >= 8
            case .priorityUpdate: length >= 4
            default: true
            }
        guard isRightSize else { throw HTTP2Violation(.frameSizeError, "length \(length) of a \(name) frame") }
    }

    /// The type's name in RFC 9113, or its number.
    package var name: String {
        switch type {
        case .data: "DATA"
        case .headers: "HEADERS"
        case .priority: "PRIORITY"
        case .resetStream: "RST_STREAM"
        case .settings: "SETTINGS"
        case .pushPromise: "PUSH_PROMISE"
        case .ping: "PING"
        case .goAway: "GOAWAY"
        case .windowUpdate: "WINDOW_UPDATE"
        case .continuation: "CONTINUATION"
        case .priorityUpdate: "PRIORITY_UPDATE"
        default: "type \(type.rawValue)"
        }
    }
}
