/// The position of a long header packet in its UDP datagram (RFC 9000 §17.2).
struct QUICPacketPlace: Equatable {
    static let versionOne: UInt32 = 1
    static let versionTwo: UInt32 = 0x6B33_43CF
    /// Bits in the packet's first byte.
    static let longHeader: UInt8 = 0x80
    static let fixedBit: UInt8 = 0x40
    static let longestIdentifier = 20

    /// The version 1 packet types. Version 2 numbers them differently (RFC 9369 §3.2).
    enum Kind: UInt8 { case initial, early, handshake, retry }

    let version: UInt32
    let kind: Kind
    /// The offset of the packet's first byte.
    let start: Int
    /// The Destination Connection ID.
    let destination: Range<Int>
    /// The offset of the packet number, which header protection covers.
    let number: Int
    /// The offset after the packet's last byte.
    let end: Int

    /// Finds the QUIC packet at `start`. `nil` if the packet is incomplete, has a short header, is a Retry packet, or
    /// has another version.
    init?(_ p: borrowing ByteView, at start: Int) {
        guard let place = try? QUICPacketPlace(reading: p, at: start) else { return nil }
        self = place
    }

    private init(reading p: borrowing ByteView, at start: Int) throws(WireError) {
        let first = try p.u8(start)
        guard first & (Self.longHeader | Self.fixedBit) == Self.longHeader | Self.fixedBit else {
            throw .invalid("QUIC header form", at: start)
        }
        let version = try p.u32(start + 1)
        guard version == Self.versionOne || version == Self.versionTwo else {
            throw .invalid("QUIC version", at: start + 1)
        }
        let kind = Self.kind(first, version)
        guard kind != .retry else { throw .invalid("QUIC packet type", at: start) }
        let destination = try Self.identifier(p, at: start + 5)
        var offset = try Self.identifier(p, at: destination.upperBound).upperBound
        if kind == .initial {
            let (count, token) = try p.quicInteger(at: offset)
            try p.require(count, at: token)
            offset = token + count
        }
        let (length, number) = try p.quicInteger(at: offset)
        try p.require(length, at: number)
        (self.version, self.kind, self.start, self.destination) = (version, kind, start, destination)
        (self.number, self.end) = (number, number + length)
    }

    static func kind(_ first: UInt8, _ version: UInt32) -> Kind {
        let type = first >> 4 & 3
        return Kind(rawValue: version == versionTwo ? (type &+ 3) & 3 : type) ?? .retry
    }

    /// Returns the range of the connection ID whose length byte is at `offset`.
    static func identifier(_ p: borrowing ByteView, at offset: Int) throws(WireError) -> Range<Int> {
        let count = Int(try p.u8(offset))
        guard count <= longestIdentifier else { throw .invalid("connection ID length", at: offset) }
        try p.require(count, at: offset + 1)
        return offset + 1..<offset + 1 + count
    }
}

extension ByteView {
    /// Returns a variable-length integer, which has at most 62 bits (RFC 9000 §16), and the next field's offset.
    func quicInteger(at offset: Int) throws(WireError) -> (value: Int, next: Int) {
        let first = try u8(offset)
        let count = 1 << Int(first >> 6)
        var value = Int(first & 0x3F)
        for index in 1..<max(count, 1) { value = value << 8 | Int(try u8(offset + index)) }
        return (value, offset + count)
    }
}
