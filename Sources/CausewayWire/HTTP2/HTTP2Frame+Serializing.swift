extension HTTP2Frame {
    /// Appends the encoded frame. Padding consists of zeros.
    package func serialize(streamID: HTTP2StreamID, into bytes: inout [UInt8]) {
        let start = bytes.count
        var header = HTTP2FrameHeader(length: 0, type: type, flags: flags, streamID: streamID)
        header.serialize(into: &bytes)
        serializePayload(into: &bytes)
        header.length = bytes.count - start - HTTP2FrameHeader.byteCount
        bytes[start] = UInt8(truncatingIfNeeded: header.length >> 16)
        bytes[start + 1] = UInt8(truncatingIfNeeded: header.length >> 8)
        bytes[start + 2] = UInt8(truncatingIfNeeded: header.length)
    }

    /// The frame type.
    package var type: HTTP2FrameType {
        switch self {
        case .data: .data
        case .headers: .headers
        case .priority: .priority
        case .resetStream: .resetStream
        case .settings, .settingsAcknowledgment: .settings
        case .pushPromise: .pushPromise
        case .ping: .ping
        case .goAway: .goAway
        case .windowUpdate: .windowUpdate
        case .continuation: .continuation
        case .priorityUpdate: .priorityUpdate
        case .unknown(let type): type
        }
    }

    private var flags: HTTP2FrameFlags {
        switch self {
        case .data(_, let padding, let endsStream): Self.flags(padding, endsStream ? .endStream : [])
        case .headers(let frame):
            Self.flags(frame.padding, frame.endsStream ? .endStream : [])
                .union(frame.endsHeaders ? .endHeaders : []).union(frame.dependency == nil ? [] : .priority)
        case .settingsAcknowledgment: .acknowledgment
        case .pushPromise(_, _, let padding, let endsHeaders): Self.flags(padding, endsHeaders ? .endHeaders : [])
        case .ping(_, let isAcknowledgment): isAcknowledgment ? .acknowledgment : []
        case .continuation(_, let endsHeaders): endsHeaders ? .endHeaders : []
        case .priority, .resetStream, .settings, .goAway, .windowUpdate, .priorityUpdate, .unknown: []
        }
    }

    private static func flags(_ padding: UInt8?, _ others: HTTP2FrameFlags) -> HTTP2FrameFlags {
        padding == nil ? others : others.union(.padded)
    }

    private func serializePayload(into bytes: inout [UInt8]) {
        switch self {
        case .data(let content, let padding, _): Self.pad(padding, &bytes) { $0 += content }
        case .headers(let frame):
            Self.pad(frame.padding, &bytes) { bytes in
                frame.dependency?.serialize(into: &bytes)
                bytes += frame.fragment
            }
        case .priority(let dependency): dependency.serialize(into: &bytes)
        case .resetStream(let code): bytes.append(bigEndian: code.rawValue)
        case .settings(let settings):
            for setting in settings {
                bytes.append(bigEndian: setting.identifier.rawValue)
                bytes.append(bigEndian: setting.value)
            }
        case .pushPromise(let promised, let fragment, let padding, _):
            Self.pad(padding, &bytes) { bytes in
                bytes.append(bigEndian: promised)
                bytes += fragment
            }
        case .ping(let data, _): bytes.append(bigEndian: data)
        case .goAway(let lastStreamID, let code, let debugData):
            bytes.append(bigEndian: lastStreamID)
            bytes.append(bigEndian: code.rawValue)
            bytes += debugData
        case .windowUpdate(let increment): bytes.append(bigEndian: increment)
        case .continuation(let fragment, _): bytes += fragment
        case .priorityUpdate(let streamID, let value):
            bytes.append(bigEndian: streamID)
            bytes += value
        case .settingsAcknowledgment, .unknown: break
        }
    }

    private static func pad(_ padding: UInt8?, _ bytes: inout [UInt8], _ appendContent: (inout [UInt8]) -> Void) {
        if let padding { bytes.append(padding) }
        appendContent(&bytes)
        bytes += [UInt8](repeating: 0, count: Int(padding ?? 0))
    }
}

extension HTTP2Dependency {
    fileprivate func serialize(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: streamID | (isExclusive ? 0x8000_0000 : 0))
        bytes.append(weight)
    }
}
