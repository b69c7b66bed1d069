/// A piece of DATA frame content, delivered as it arrives.
package struct HTTP2DataPiece: Equatable, Sendable {
    package var streamID: HTTP2StreamID
    package var bytes: ArraySlice<UInt8>
    /// The size of the frame's whole payload in bytes, including padding. Flow control counts this size (RFC 9113
    /// §6.1). The value is 0 except in the first piece.
    package var flowControlledCount = 0
    /// The number of payload bytes that are not content. 0 except in the first piece.
    package var paddingCount = 0
    /// Whether the piece is the first in its frame.
    package var isFirst = true
    /// Whether the piece ends its frame.
    package var isLast = true
    /// Whether the sender ends its direction of the stream with this frame.
    package var endsStream = false
}

/// Splits a byte stream into frames (RFC 9113 §4).
///
/// DATA frame content is delivered in pieces without a copy. Other frame payloads are buffered up to
/// ``maximumFrameSize``. Payloads of unknown frame types are skipped.
package struct HTTP2FrameReader: Sendable {
    package enum Item: Equatable, Sendable {
        case data(HTTP2DataPiece)
        case frame(HTTP2FrameHeader, HTTP2Frame)
    }

    private enum State: Sendable {
        case header
        case payload(HTTP2FrameHeader)
        /// The reader delivers DATA frame content. The padding follows the content.
        case content(HTTP2DataPiece, remaining: Int, padding: Int)
        case skipping(Int)
    }

    /// The default for `SETTINGS_MAX_FRAME_SIZE`, the smallest valid value (RFC 9113 §6.5.2).
    package static let defaultMaximumFrameSize = 16384

    /// The largest payload to accept in bytes.
    package var maximumFrameSize = defaultMaximumFrameSize
    private var state = State.header
    private var buffer: ArraySlice<UInt8> = []

    package init() {}

    /// The number of undecoded bytes.
    package var bufferedByteCount: Int { buffer.count }
    /// Whether the received bytes end at a frame boundary.
    package var isBetweenFrames: Bool {
        if case .header = state { buffer.isEmpty } else { false }
    }

    /// Adds received bytes. They are not copied if all earlier bytes were decoded.
    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        if buffer.isEmpty { buffer = bytes } else { buffer.append(contentsOf: bytes) }
    }

    /// Returns the next frame or content piece; `nil` if more bytes are needed.
    ///
    /// - Throws: The violation. After a stream error, reading continues with the next frame. After a connection error,
    ///   the reader must not be used.
    package mutating func next() throws(HTTP2Violation) -> Item? {
        while true {
            switch state {
            case .header:
                guard let item = try readHeader() else { return nil }
                if case .some(let item) = item { return item }
            case .payload(let header):
                guard let payload = take(exactly: header.length) else { return nil }
                state = .header
                return .frame(header, try HTTP2Frame(header, payload: payload))
            case .content(let piece, let remaining, let padding):
                return readContent(piece, remaining, padding)
            case .skipping(let count):
                let skipped = take(atMost: count).count
                guard skipped == count else {
                    state = .skipping(count - skipped)
                    return nil
                }
                state = .header
            }
        }
    }

    /// Reads an HTTP/2 frame header and enters the next state.
    ///
    /// Returns `nil` if more bytes are needed. Returns `.some(nil)` if the header was read, but no frame or content can
    /// be delivered yet.
    private mutating func readHeader() throws(HTTP2Violation) -> Item?? {
        guard let header = HTTP2FrameHeader(buffer.span) else { return nil }
        guard header.length <= maximumFrameSize else {
            throw HTTP2Violation(.frameSizeError, "\(header.name) frame of \(header.length) bytes")
        }
        try header.check()
        switch header.type {
        case .data: return try beginData(header)
        case .headers, .priority, .resetStream, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .continuation,
            .priorityUpdate:
            buffer = buffer.dropFirst(HTTP2FrameHeader.byteCount)
            state = .payload(header)
            return .some(nil)
        default:
            buffer = buffer.dropFirst(HTTP2FrameHeader.byteCount)
            state = .skipping(header.length)
            return .frame(header, .unknown(header.type))
        }
    }

    private mutating func beginData(_ header: HTTP2FrameHeader) throws(HTTP2Violation) -> Item?? {
        var padding = 0
        var prefix = HTTP2FrameHeader.byteCount
        if header.flags.contains(.padded) {
            guard header.length > 0 else {
                throw HTTP2Violation(.frameSizeError, "DATA frame without the length of its padding")
            }
            guard buffer.count > prefix else { return nil }
            padding = Int(buffer[buffer.startIndex + prefix])
            guard padding < header.length else {
                throw HTTP2Violation(.protocolError, "padding of \(padding) bytes in a DATA frame")
            }
            prefix += 1
        }
        buffer = buffer.dropFirst(prefix)
        let notContent = padding + prefix - HTTP2FrameHeader.byteCount
        let piece = HTTP2DataPiece(
            streamID: header.streamID, bytes: [], flowControlledCount: header.length, paddingCount: notContent,
            endsStream: header.flags.contains(.endStream))
        state = .content(piece, remaining: header.length - notContent, padding: padding)
        return .some(nil)
    }

    private mutating func readContent(_ piece: HTTP2DataPiece, _ remaining: Int, _ padding: Int) -> Item? {
        guard !buffer.isEmpty || remaining == 0 else { return nil }
        var piece = piece
        piece.bytes = take(atMost: remaining)
        piece.isLast = piece.bytes.count == remaining
        guard !piece.isLast else {
            state = padding == 0 ? .header : .skipping(padding)
            return .data(piece)
        }
        var rest = piece
        rest.bytes = []
        (rest.flowControlledCount, rest.paddingCount, rest.isFirst) = (0, 0, false)
        state = .content(rest, remaining: remaining - piece.bytes.count, padding: padding)
        return .data(piece)
    }

    private mutating func take(atMost count: Int) -> ArraySlice<UInt8> {
        let taken = buffer.prefix(count)
        buffer = buffer.dropFirst(count)
        return taken
    }

    private mutating func take(exactly count: Int) -> ArraySlice<UInt8>? {
        buffer.count >= count ? take(atMost: count) : nil
    }
}
