/// A frame header (RFC 6455 §5.2).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-------+-+-------------+-------------------------------+
/// |F|R|R|R|opcode |M| length      | length: 16 bits if the first  |
/// |I|S|S|S|       |A| 0...125     | length is 126, 64 bits if 127 |
/// |N|V|V|V|       |S|             |                               |
/// +-+-+-+-+-------+-+-------------+-------------------------------+
/// | masking key, if M is set                                      |
/// +---------------------------------------------------------------+
/// ```
package struct WebSocketFrameHeader: Equatable, Sendable {
    /// Maximum header size in bytes.
    package static let maximumByteCount = 14
    /// Maximum control frame payload in bytes (RFC 6455 §5.5).
    package static let maximumControlLength = 125

    /// Whether the frame ends its message.
    package var isFinal: Bool
    /// Whether the message is compressed: the first reserved bit (RFC 7692 §6).
    package var isCompressed: Bool
    package var opcode: WebSocketOpcode
    /// The masking key: present in every frame from a client, absent in every frame from a server (RFC 6455 §5.1).
    package var mask: WebSocketMask?
    /// Payload size in bytes.
    package var payloadLength: Int

    package init(
        isFinal: Bool = true, isCompressed: Bool = false, opcode: WebSocketOpcode, mask: WebSocketMask? = nil,
        payloadLength: Int
    ) {
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.opcode = opcode
        self.mask = mask
        self.payloadLength = payloadLength
    }

    /// Parses one frame header.
    ///
    /// - Parameter permitsCompression: Whether the handshake negotiated compression. Without compression, a compressed
    ///   message is invalid.
    /// - Throws: ``WireError``. The error is `truncated` if more bytes are needed. The error is `invalid` if a byte is
    ///   invalid, even if the header is still incomplete.
    package init(parsing reader: inout ByteReader, permitsCompression: Bool = false) throws(WireError) {
        let start = reader.position
        let first = try reader.readInteger(as: UInt8.self)
        // All reserved bits must be zero. The compression bit may be set if compression was negotiated.
        guard first & (permitsCompression ? 0x30 : 0x70) == 0 else { throw .invalid("reserved bits", at: start) }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .invalid("opcode", at: start) }
        isCompressed = first & 0x40 != 0
        // Only the first frame of a message may have the compression bit (RFC 7692 §6.1).
        guard !isCompressed || opcode == .text || opcode == .binary else { throw .invalid("reserved bits", at: start) }
        isFinal = first & 0x80 != 0
        self.opcode = opcode
        guard isFinal || !opcode.isControl else { throw .invalid("fragmented control frame", at: start) }
        let second = try reader.readInteger(as: UInt8.self)
        let shortLength = Int(second & 0x7F)
        guard !opcode.isControl || shortLength <= Self.maximumControlLength else {
            throw .invalid("length of a control frame", at: start + 1)
        }
        payloadLength = try Self.readLength(shortLength, &reader)
        mask = second & 0x80 == 0 ? nil : WebSocketMask(key: try reader.readInteger())
    }

    /// Reads the length, which must be in the shortest form that can represent it (RFC 6455 §5.2).
    private static func readLength(_ shortLength: Int, _ reader: inout ByteReader) throws(WireError) -> Int {
        let start = reader.position
        switch shortLength {
        case 126:
            let length = try reader.readInteger(as: UInt16.self)
            guard length > 125 else { throw .invalid("length not in its shortest form", at: start) }
            return Int(length)
        case 127:
            let length = try reader.readInteger(as: UInt64.self)
            guard length > UInt16.max else { throw .invalid("length not in its shortest form", at: start) }
            guard let length = Int(exactly: length) else { throw .invalid("length", at: start) }
            return length
        default:
            return shortLength
        }
    }

    /// Encoded header size in bytes.
    package var byteCount: Int {
        let lengthBytes = payloadLength <= 125 ? 0 : payloadLength <= Int(UInt16.max) ? 2 : 8
        return 2 + lengthBytes + (mask == nil ? 0 : 4)
    }

    /// Appends the encoded header.
    package func serialize(into bytes: inout [UInt8]) {
        bytes.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if payloadLength <= 125 {
            bytes.append(maskBit | UInt8(truncatingIfNeeded: payloadLength))
        } else if payloadLength <= Int(UInt16.max) {
            bytes.append(maskBit | 126)
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: payloadLength))
        } else {
            bytes.append(maskBit | 127)
            bytes.append(bigEndian: UInt64(payloadLength))
        }
        if let mask { bytes.append(bigEndian: mask.key) }
    }
}

extension [UInt8] {
    /// Appends one integer in network byte order.
    mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        var shift = T.bitWidth - 8
        while shift >= 0 {
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
            shift -= 8
        }
    }
}
