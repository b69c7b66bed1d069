internal import CausewayWire

/// The frames to send, in creation order, except DATA frames with content.
struct HTTP2Output: Sendable {
    /// The maximum length in bytes of unsent PING and SETTINGS acknowledgments. It bounds the memory used for a peer
    /// that does not read.
    static let maximumReplyCount = 64 << 10

    private(set) var control: [UInt8] = []
    private var encoder = HPACKEncoder()
    /// Bytes of acknowledgments in ``control``.
    private(set) var replyCount = 0
    /// The maximum payload to send, in bytes. Every peer accepts payloads of this size.
    private static let maximumFrameSize = HTTP2FrameReader.defaultMaximumFrameSize
    /// The connection window: content bytes that the peer permits on all streams together.
    var window = 65535

    mutating func append(raw bytes: some Sequence<UInt8>) { control.append(contentsOf: bytes) }

    mutating func append(_ frame: HTTP2Frame, on streamID: HTTP2StreamID = 0) {
        frame.serialize(streamID: streamID, into: &control)
    }

    /// Appends an acknowledgment for a frame from the peer.
    mutating func reply(_ frame: HTTP2Frame) {
        let start = control.count
        append(frame)
        replyCount += control.count - start
    }

    mutating func setHeaderTableSize(_ size: Int) { encoder.setMaximumTableSize(size) }

    /// Appends a field block as a HEADERS frame, with CONTINUATION frames if it is longer than one frame (RFC 9113 §4.3).
    mutating func appendBlock(
        on streamID: HTTP2StreamID, endsStream: Bool, _ encode: (inout HPACKEncoder, inout [UInt8]) -> Void
    ) {
        let start = control.count
        // The length is not yet known, so the header is overwritten below.
        var header = HTTP2FrameHeader(
            length: 0, type: .headers, flags: endsStream ? [.endHeaders, .endStream] : .endHeaders, streamID: streamID)
        header.serialize(into: &control)
        encode(&encoder, &control)
        header.length = control.count - start - HTTP2FrameHeader.byteCount
        guard header.length > Self.maximumFrameSize else {
            control[start] = UInt8(truncatingIfNeeded: header.length >> 16)
            control[start + 1] = UInt8(truncatingIfNeeded: header.length >> 8)
            control[start + 2] = UInt8(truncatingIfNeeded: header.length)
            return
        }
        var rest = Array(control[(start + HTTP2FrameHeader.byteCount)...])[...]
        control.removeSubrange(start...)
        let first = rest.prefix(Self.maximumFrameSize)
        append(.headers(HTTP2HeadersFrame(first, endsHeaders: false, endsStream: endsStream)), on: streamID)
        rest = rest.dropFirst(Self.maximumFrameSize)
        while !rest.isEmpty {
            let part = rest.prefix(Self.maximumFrameSize)
            rest = rest.dropFirst(Self.maximumFrameSize)
            append(.continuation(part, endsHeaders: rest.isEmpty), on: streamID)
        }
    }

    /// Removes and returns the queued bytes.
    mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        replyCount = 0
        return control
    }
}
