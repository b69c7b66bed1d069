/// Encodes the chunked transfer coding (RFC 9112 §7.1).
package enum ChunkEncoding {
    /// Maximum number of bytes that ``appendSize(_:isFirst:to:)`` appends.
    package static let maximumSizeCount = 20

    /// Appends the bytes before a chunk's content: the previous chunk's end and this chunk's size.
    ///
    /// Both are written together, so a chunk needs only one piece of output besides its content.
    ///
    /// - Parameters:
    ///   - count: Content length. An empty chunk would end the body, so nothing is appended for it.
    ///   - isFirst: Whether no chunk precedes this one.
    package static func appendSize(_ count: Int, isFirst: Bool, to output: inout [UInt8]) {
        guard count > 0 else { return }
        if !isFirst { appendLineEnd(to: &output) }
        var shift = (Int.bitWidth - count.leadingZeroBitCount - 1) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: count >> shift) & 0xF
            output.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
            shift -= 4
        }
        appendLineEnd(to: &output)
    }

    /// Appends the body's end with its trailer fields.
    ///
    /// - Parameter isFirst: Whether the body has no chunks.
    /// - Throws: ``HTTPSyntaxError/unwritable(_:)`` if a trailer field contains invalid characters. `output` is then unchanged.
    package static func appendEnd(
        _ trailers: FieldSection = FieldSection(), isFirst: Bool, to output: inout [UInt8]
    ) throws(HTTPSyntaxError) {
        try trailers.checkWritable()
        if !isFirst { appendLineEnd(to: &output) }
        output.append(0x30)
        appendLineEnd(to: &output)
        trailers.encodeUnchecked(into: &output)
    }

    private static func appendLineEnd(to output: inout [UInt8]) {
        output.append(HTTPCharacters.carriageReturn)
        output.append(HTTPCharacters.lineFeed)
    }
}
