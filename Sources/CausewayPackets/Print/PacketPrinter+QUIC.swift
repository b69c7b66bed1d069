/// Prints the long headers of QUIC (RFC 9000 §17.2). The payload is encrypted, also in the first packet: its keys need digests and ciphers
/// (RFC 9001 §5.2), which this target does not have.
extension PacketPrinter {
    private enum Kind {
        static let (initial, early, handshake, retry): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 2, 3)
        static let names: [StaticString] = ["initial", "0-rtt", "handshake", "retry"]
    }
    private static let (longHeader, fixedBit): (UInt8, UInt8) = (0x80, 0x40)
    private static let versionOne: UInt32 = 1
    private static let versionTwo: UInt32 = 0x6B33_43CF
    private static let longestIdentifier = 20
    private static let integrityTag = 16

    /// Prints a packet. Returns whether it looks like QUIC.
    mutating func quic(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Bool {
        guard let first = try? p.u8(0), first & Self.fixedBit != 0 else { return false }
        guard first & Self.longHeader != 0 else {
            out.put("quic, protected")
            return true
        }
        guard let version = try? p.u32(1), version == Self.versionOne || version == Self.versionTwo else {
            return false
        }
        part = "quic"
        out.put("quic, ")
        // QUIC version 2 numbers the packet types differently (RFC 9369 §3.2).
        let kind = version == Self.versionTwo ? ((first >> 4 & 3) &+ 3) & 3 : first >> 4 & 3
        out.put(Kind.names[Int(kind)])
        var offset = try identifier(", dcid ", p, 5)
        offset = try identifier(", scid ", p, offset)
        if kind == Kind.retry {
            token(p.clamped(offset, max(offset, length - Self.integrityTag)))
            return true
        }
        if kind == Kind.initial {
            let (count, next) = try number(p, offset)
            try p.require(count, at: next)
            if count > 0 { token(p.clamped(next, next + count)) }
            offset = next + count
        }
        put(", length ", try number(p, offset).value)
        return true
    }

    private mutating func token(_ bytes: borrowing ByteView) {
        out.put(", token ")
        for index in 0..<bytes.count { out.hex(bytes[index], width: 2) }
    }

    /// Prints a connection identifier after its length. Returns the offset of the next field.
    private mutating func identifier(
        _ before: StaticString, _ p: borrowing ByteView, _ offset: Int
    ) throws(WireError) -> Int {
        let count = Int(try p.u8(offset))
        guard count <= Self.longestIdentifier else { throw .invalid("connection ID length", at: offset) }
        try p.require(count, at: offset + 1)
        if count > 0 { out.put(before) }
        for index in 0..<count { out.hex(p[offset + 1 + index], width: 2) }
        return offset + 1 + count
    }

    /// Returns a variable-length integer (RFC 9000 §16) and the offset of the next field.
    private func number(_ p: borrowing ByteView, _ offset: Int) throws(WireError) -> (value: Int, next: Int) {
        let first = try p.u8(offset)
        var value = Int(first & 0x3F)
        let count = 1 << Int(first >> 6)
        for index in 1..<max(count, 1) { value = value << 8 | Int(try p.u8(offset + index)) }
        return (value, offset + count)
    }
}
