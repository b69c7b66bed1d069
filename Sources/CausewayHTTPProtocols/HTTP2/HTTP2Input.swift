internal import CausewayWire

/// Splits received bytes into frames, and assembles and decodes the field blocks in them.
struct HTTP2Input: Sendable {
    private var reader = HTTP2FrameReader()
    private var decoder: HPACKDecoder
    private var assembly: HTTP2FieldBlockAssembly?

    init(_ configuration: HTTP2Configuration) {
        var limits = HPACKDecoder.Limits()
        limits.listSize = configuration.settings.maxHeaderListSize ?? limits.listSize
        limits.fieldCount = configuration.maximumFieldCount
        decoder = HPACKDecoder(limits: limits)
    }

    /// Whether a field block has not ended. Only its CONTINUATION frames may follow (RFC 9113 §4.3).
    var isInsideBlock: Bool { assembly != nil }
    /// Whether the input ends between frames, and no field block is incomplete.
    var isComplete: Bool { reader.isBetweenFrames && assembly == nil }
    /// The maximum length of an encoded field block in bytes. It is at least the size limit for the decoded fields,
    /// because the encoding makes fields hardly longer.
    private var maximumBlockCount: Int { max(decoder.limits.listSize, reader.maximumFrameSize) }

    // MARK: Limits

    /// Prepares for settings that this side sends. Until the peer acknowledges them, input may conform to these
    /// settings or to the default settings.
    mutating func permit(_ settings: HTTP2Settings) {
        reader.maximumFrameSize = max(reader.maximumFrameSize, settings.maxFrameSize)
        decoder.setMaximumTableSize(max(HPACKDecoder.defaultTableSize, settings.headerTableSize))
    }

    /// Applies the acknowledged settings.
    mutating func apply(_ settings: HTTP2Settings) { decoder.setMaximumTableSize(settings.headerTableSize) }

    // MARK: Frames

    mutating func append(_ bytes: ArraySlice<UInt8>) { reader.append(bytes) }

    /// Returns the next frame or piece of content; `nil` if more bytes are needed. A field block is not interrupted by
    /// other frames (RFC 9113 §4.3).
    mutating func next() throws(HTTP2Violation) -> HTTP2FrameReader.Item? {
        guard let item = try reader.next() else { return nil }
        guard isInsideBlock else { return item }
        switch item {
        case .data: throw HTTP2Violation(.protocolError, "DATA frame inside a field block")
        case .frame(_, .continuation): return item
        case .frame(let header, _):
            throw HTTP2Violation(.protocolError, "\(header.name) frame inside a field block")
        }
    }

    /// Discards incomplete frames and field blocks.
    mutating func discard() {
        assembly = nil
        reader = HTTP2FrameReader()
    }

    // MARK: Field blocks

    /// Begins a field block that consists of several frames.
    mutating func beginBlock(_ header: HTTP2FrameHeader, _ frame: HTTP2HeadersFrame) {
        assembly = HTTP2FieldBlockAssembly(header, frame)
    }

    /// Adds a CONTINUATION fragment. Returns the block if the fragment ends it.
    mutating func continueBlock(
        _ id: HTTP2StreamID, _ fragment: ArraySlice<UInt8>, endsHeaders: Bool
    ) throws(HTTP2Violation) -> HTTP2FieldBlockAssembly? {
        guard var current = assembly.take(), current.streamID == id else {
            throw HTTP2Violation(.protocolError, "CONTINUATION frame without a field block")
        }
        try current.append(fragment, limit: maximumBlockCount)
        guard !endsHeaders else { return current }
        assembly = current
        return nil
    }

    /// Decodes a complete field block. Every block must be decoded, because it can change the HPACK state.
    mutating func decode(_ bytes: Span<UInt8>) throws(HTTP2Violation) -> HPACKFieldBlock {
        do {
            return try decoder.decode(bytes)
        } catch {
            throw HTTP2Violation(.compressionError, "field block: \(error)")
        }
    }
}
