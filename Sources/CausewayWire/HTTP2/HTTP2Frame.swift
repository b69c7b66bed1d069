/// A frame without its stream identifier (RFC 9113 §6).
package enum HTTP2Frame: Equatable, Sendable {
    /// Content (RFC 9113 §6.1). `padding` is the padding byte count; `nil` if the frame has no Pad Length field.
    case data(ArraySlice<UInt8>, padding: UInt8? = nil, endsStream: Bool = false)
    /// A HEADERS frame: the first part of a block of header or trailer fields (RFC 9113 §6.2).
    case headers(HTTP2HeadersFrame)
    /// A stream's priority in the deprecated format (RFC 9113 §6.3).
    case priority(HTTP2Dependency)
    /// Terminates a stream (RFC 9113 §6.4).
    case resetStream(HTTP2ErrorCode)
    /// The sender's settings, in the order in which they apply (RFC 9113 §6.5).
    case settings([HTTP2Setting])
    case settingsAcknowledgment
    /// A promised request, which the server will answer with a pushed response (RFC 9113 §6.6).
    case pushPromise(HTTP2StreamID, ArraySlice<UInt8>, padding: UInt8? = nil, endsHeaders: Bool = true)
    case ping(UInt64, isAcknowledgment: Bool = false)
    /// The sender will not process new streams on the connection (RFC 9113 §6.8).
    case goAway(lastStreamID: HTTP2StreamID, HTTP2ErrorCode, debugData: ArraySlice<UInt8> = [])
    /// A flow-control window increment in bytes (RFC 9113 §6.9).
    case windowUpdate(UInt32)
    /// A field block's next part (RFC 9113 §6.10).
    case continuation(ArraySlice<UInt8>, endsHeaders: Bool = true)
    /// A stream's priority (RFC 9218 §7.1): the `priority` field value.
    case priorityUpdate(HTTP2StreamID, ArraySlice<UInt8>)
    /// A frame with an unknown type. Its payload is skipped (RFC 9113 §5.5).
    case unknown(HTTP2FrameType)
}

/// A HEADERS frame's payload (RFC 9113 §6.2).
package struct HTTP2HeadersFrame: Equatable, Sendable {
    package var fragment: ArraySlice<UInt8>
    package var padding: UInt8?
    package var dependency: HTTP2Dependency?
    package var endsHeaders: Bool
    package var endsStream: Bool

    package init(
        _ fragment: ArraySlice<UInt8>, padding: UInt8? = nil, dependency: HTTP2Dependency? = nil,
        endsHeaders: Bool = true, endsStream: Bool = false
    ) {
        self.fragment = fragment
        self.padding = padding
        self.dependency = dependency
        self.endsHeaders = endsHeaders
        self.endsStream = endsStream
    }
}

/// The deprecated priority fields (RFC 9113 §6.3). They are parsed but have no effect.
package struct HTTP2Dependency: Equatable, Sendable {
    package var isExclusive: Bool
    package var streamID: HTTP2StreamID
    /// The weight as transmitted: one less than the RFC 7540 §5.3.2 weight.
    package var weight: UInt8

    package init(isExclusive: Bool, streamID: HTTP2StreamID, weight: UInt8) {
        self.isExclusive = isExclusive
        self.streamID = streamID
        self.weight = weight
    }
}

/// One setting: an identifier and a value (RFC 9113 §6.5.1).
package struct HTTP2Setting: Equatable, Sendable {
    package var identifier: HTTP2SettingIdentifier
    package var value: UInt32

    package init(_ identifier: HTTP2SettingIdentifier, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }
}

/// A setting identifier (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
package struct HTTP2SettingIdentifier: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let headerTableSize = HTTP2SettingIdentifier(rawValue: 0x1)
    package static let enablePush = HTTP2SettingIdentifier(rawValue: 0x2)
    package static let maxConcurrentStreams = HTTP2SettingIdentifier(rawValue: 0x3)
    package static let initialWindowSize = HTTP2SettingIdentifier(rawValue: 0x4)
    package static let maxFrameSize = HTTP2SettingIdentifier(rawValue: 0x5)
    package static let maxHeaderListSize = HTTP2SettingIdentifier(rawValue: 0x6)
    package static let enableConnectProtocol = HTTP2SettingIdentifier(rawValue: 0x8)
    package static let noRFC7540Priorities = HTTP2SettingIdentifier(rawValue: 0x9)
}
