import CausewayProtocols

internal import CausewayWire
internal import DequeModule

/// The events that a connection reports and the frames that it sends, in the order of their creation. DATA frames with
/// content are left out.
struct HTTP2Output: Sendable {
    /// The maximum length in bytes of unsent PING and SETTINGS acknowledgments. It bounds the memory used for a peer
    /// that does not read.
    private static let maximumReplyCount = 64 << 10
    /// The maximum payload to send, in bytes. Every peer accepts payloads of this size.
    private static let maximumFrameSize = HTTP2FrameReader.defaultMaximumFrameSize

    private var events = InlineFirstQueue<HTTP2Connection.Event>()
    private var control: [UInt8] = []
    private var encoder = HPACKEncoder()
    /// The number of bytes in ``control`` that are acknowledgments.
    private var replyCount = 0

    /// Bytes of queued frames.
    var controlByteCount: Int { control.count }

    // MARK: Events

    mutating func report(_ event: HTTP2Connection.Event) { events.append(event) }

    mutating func takeEvent() -> HTTP2Connection.Event? { events.popFirst() }

    // MARK: Frames

    mutating func append(raw bytes: some Sequence<UInt8>) { control.append(contentsOf: bytes) }

    mutating func append(_ frame: HTTP2Frame, on streamID: HTTP2StreamID = 0) {
        frame.serialize(streamID: streamID, into: &control)
    }

    /// Appends an acknowledgment for a frame from the peer.
    ///
    /// - Throws: A connection error if too many are queued because the peer does not read them.
    mutating func reply(_ frame: HTTP2Frame) throws(HTTP2Violation) {
        let start = control.count
        append(frame)
        replyCount += control.count - start
        guard replyCount <= Self.maximumReplyCount else {
            throw HTTP2Violation(.enhanceYourCalm, "answers that are not read")
        }
    }

    /// Removes and returns the queued frames.
    mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        replyCount = 0
        return control
    }

    // MARK: Field blocks

    mutating func setHeaderTableSize(_ size: Int) { encoder.setMaximumTableSize(size) }

    mutating func append(_ head: HTTP2RequestHead, on streamID: HTTP2StreamID, endsStream: Bool) {
        appendBlock(on: streamID, endsStream: endsStream) { encoder, bytes in
            head.encode(with: &encoder, to: &bytes)
        }
    }

    mutating func append(_ head: HTTP2ResponseHead, on streamID: HTTP2StreamID, endsStream: Bool) {
        appendBlock(on: streamID, endsStream: endsStream) { encoder, bytes in
            head.encode(with: &encoder, to: &bytes)
        }
    }

    /// Appends a trailer section, which ends the stream.
    mutating func append(trailers fields: FieldSection, on streamID: HTTP2StreamID) {
        appendBlock(on: streamID, endsStream: true) { encoder, bytes in
            encoder.beginBlock(&bytes)
            fields.encode(with: &encoder, to: &bytes)
        }
    }

    /// Appends a field block as a HEADERS frame, with CONTINUATION frames if it is longer than one frame
    /// (RFC 9113 §4.3).
    private mutating func appendBlock(
        on streamID: HTTP2StreamID, endsStream: Bool, _ encode: (inout HPACKEncoder, inout [UInt8]) -> Void
    ) {
        let start = control.count
        // Write the header with length 0, because the frame's length is not yet known. The code below overwrites this
        // header.
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
}
