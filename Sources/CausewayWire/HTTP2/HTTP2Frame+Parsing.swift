extension HTTP2Frame {
    /// Parses a frame payload.
    ///
    /// - Parameters:
    ///   - header: The frame header.
    ///   - payload: The whole payload.
    /// - Throws: The violation, with the scope that RFC 9113 §6 defines for it.
    package init(_ header: HTTP2FrameHeader, payload: ArraySlice<UInt8>) throws(HTTP2Violation) {
        try header.check()
        guard payload.count == header.length else {
            throw HTTP2Violation(.frameSizeError, "payload of a \(header.name) frame")
        }
        let flags = header.flags
        switch header.type {
        case .data:
            let (content, padding) = try Self.unpadded(header, payload)
            self = .data(content, padding: padding, endsStream: flags.contains(.endStream))
        case .headers: self = .headers(try HTTP2HeadersFrame(header, payload))
        case .priority:
            guard let dependency = HTTP2Dependency(payload), payload.count == HTTP2Dependency.byteCount else {
                throw HTTP2Violation(
                    .frameSizeError, stream: header.streamID, "length \(header.length) of a PRIORITY frame")
            }
            self = .priority(dependency)
        case .resetStream: self = .resetStream(HTTP2ErrorCode(rawValue: payload.integer(at: 0)))
        case .settings:
            self = flags.contains(.acknowledgment) ? .settingsAcknowledgment : .settings(Self.settings(payload))
        case .pushPromise: self = try Self.pushPromise(header, payload)
        case .ping:
            let data = UInt64(payload.integer(at: 0)) << 32 | UInt64(payload.integer(at: 4))
            self = .ping(data, isAcknowledgment: flags.contains(.acknowledgment))
        case .goAway:
            self = .goAway(
                lastStreamID: payload.integer(at: 0) & .largestStream,
                HTTP2ErrorCode(rawValue: payload.integer(at: 4)), debugData: payload.dropFirst(8))
        case .windowUpdate: self = try Self.windowUpdate(header, payload)
        case .continuation: self = .continuation(payload, endsHeaders: flags.contains(.endHeaders))
        case .priorityUpdate:
            let streamID = payload.integer(at: 0) & .largestStream
            guard streamID != 0 else { throw HTTP2Violation(.protocolError, "priority of stream 0") }
            self = .priorityUpdate(streamID, payload.dropFirst(4))
        default: self = .unknown(header.type)
        }
    }

    private static func settings(_ payload: ArraySlice<UInt8>) -> [HTTP2Setting] {
        stride(from: 0, to: payload.count - 5, by: 6).map { offset in
            let high = UInt16(payload[payload.startIndex + offset])
            let identifier = high << 8 | UInt16(payload[payload.startIndex + offset + 1])
            return HTTP2Setting(HTTP2SettingIdentifier(rawValue: identifier), payload.integer(at: offset + 2))
        }
    }

    private static func pushPromise(
        _ header: HTTP2FrameHeader, _ payload: ArraySlice<UInt8>
    ) throws(HTTP2Violation) -> HTTP2Frame {
        let (content, padding) = try unpadded(header, payload)
        guard content.count >= 4 else {
            throw HTTP2Violation(.frameSizeError, "length \(header.length) of a PUSH_PROMISE frame")
        }
        let promised = content.integer(at: 0) & .largestStream
        // Only a server pushes, so the promised stream identifier must be even (RFC 9113 §5.1.1).
        guard promised != 0, promised % 2 == 0 else {
            throw HTTP2Violation(.protocolError, "promised stream \(promised)")
        }
        return .pushPromise(
            promised, content.dropFirst(4), padding: padding, endsHeaders: header.flags.contains(.endHeaders))
    }

    private static func windowUpdate(
        _ header: HTTP2FrameHeader, _ payload: ArraySlice<UInt8>
    ) throws(HTTP2Violation) -> HTTP2Frame {
        let increment = payload.integer(at: 0) & .largestStream
        guard increment > 0 else {
            let reason = "window increment of 0"
            throw header.streamID == 0
                ? HTTP2Violation(.protocolError, reason)
                : HTTP2Violation(.protocolError, stream: header.streamID, reason)
        }
        return .windowUpdate(increment)
    }

    /// Removes the padding (RFC 9113 §6.1, §6.2, §6.6).
    static func unpadded(
        _ header: HTTP2FrameHeader, _ payload: ArraySlice<UInt8>
    ) throws(HTTP2Violation) -> (content: ArraySlice<UInt8>, padding: UInt8?) {
        guard header.flags.contains(.padded) else { return (payload, nil) }
        guard let padding = payload.first else {
            throw HTTP2Violation(.frameSizeError, "\(header.name) frame without the length of its padding")
        }
        guard Int(padding) < payload.count else {
            throw HTTP2Violation(.protocolError, "padding of \(padding) bytes in a \(header.name) frame")
        }
        return (payload.dropFirst().dropLast(Int(padding)), padding)
    }
}

extension HTTP2HeadersFrame {
    fileprivate init(_ header: HTTP2FrameHeader, _ payload: ArraySlice<UInt8>) throws(HTTP2Violation) {
        var (content, padding) = try HTTP2Frame.unpadded(header, payload)
        var dependency: HTTP2Dependency?
        if header.flags.contains(.priority) {
            dependency = HTTP2Dependency(content)
            guard dependency != nil else {
                throw HTTP2Violation(.frameSizeError, "HEADERS frame without its priority fields")
            }
            content = content.dropFirst(HTTP2Dependency.byteCount)
        }
        self.init(
            content, padding: padding, dependency: dependency, endsHeaders: header.flags.contains(.endHeaders),
            endsStream: header.flags.contains(.endStream))
    }
}

extension HTTP2Dependency {
    /// Encoded size in bytes.
    static let byteCount = 5

    /// Parses the fields at the start of a payload; `nil` if it is too short.
    init?(_ payload: ArraySlice<UInt8>) {
        guard payload.count >= Self.byteCount else { return nil }
        let bits = payload.integer(at: 0)
        isExclusive = bits >> 31 == 1
        streamID = bits & .largestStream
        weight = payload[payload.startIndex + 4]
    }
}

extension ArraySlice<UInt8> {
    /// Returns the 32-bit integer in network byte order at an offset from the start of the slice.
    fileprivate func integer(at offset: Int) -> UInt32 {
        let start = startIndex + offset
        return UInt32(self[start]) << 24 | UInt32(self[start + 1]) << 16 | UInt32(self[start + 2]) << 8
            | UInt32(self[start + 3])
    }
}
