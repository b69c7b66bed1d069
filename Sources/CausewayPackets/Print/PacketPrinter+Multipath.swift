/// Prints the Multipath TCP options (RFC 8684 §3, and version 0: RFC 6824 §3).
extension PacketPrinter {
    /// Option subtypes (IANA registry "MPTCP Option Subtypes").
    private enum Subtype {
        static let capable: UInt8 = 0
        static let join: UInt8 = 1
        static let dataSequenceSignal: UInt8 = 2
        static let addAddress: UInt8 = 3
        static let removeAddress: UInt8 = 4
        static let priority: UInt8 = 5
        static let fail: UInt8 = 6
        static let fastClose: UInt8 = 7
        static let reset: UInt8 = 8
    }

    /// The flag B in MP_JOIN and MP_PRIO (RFC 8684 §3.2).
    private static let backup: UInt8 = 1
    /// The flag A in MP_CAPABLE: the peer requires checksums (RFC 8684 §3.1).
    private static let checksumRequired: UInt8 = 0x80
    /// The flag E in ADD_ADDR (RFC 8684 §3.4.1).
    private static let echo: UInt8 = 1

    /// DSS option flags (RFC 8684 §3.3).
    private enum SignalFlag {
        static let dataACK: UInt8 = 1
        static let longDataACK: UInt8 = 2
        static let mapping: UInt8 = 4
        static let longSequence: UInt8 = 8
        static let dataFIN: UInt8 = 16
    }

    /// Prints an option. Returns whether its length is valid for its subtype.
    mutating func multipath(
        _ p: borrowing ByteView, _ offset: Int, _ length: Int, _ flags: TCPHeader.Flags
    ) throws(WireError) -> Bool {
        guard length >= 1 else { return false }
        put(" ", length + 2)
        let first = try p.u8(offset)
        switch first >> 4 {
        case Subtype.capable: return try capable(p, offset, length)
        case Subtype.join: return try join(p, offset, length, flags)
        case Subtype.dataSequenceSignal: return try dataSequence(p, offset, length)
        case Subtype.addAddress: return try addAddress(p, offset, length)
        case Subtype.removeAddress:
            out.put(" rem-addr id")
            for index in 1..<max(length, 1) { put(" ", try p.u8(offset + index)) }
        case Subtype.priority:
            out.put(" prio")
            if first & Self.backup != 0 { out.put(" backup") }
            if length >= 2 { put(" id ", try p.u8(offset + 1)) }
        case Subtype.fail:
            guard length == 10 else { return false }
            put(" fail seq ", try p.u64(offset + 2))
        case Subtype.fastClose:
            guard length == 10 else { return false }
            putHex(" fast-close key 0x", try p.u64(offset + 2))
        case Subtype.reset:
            putHex(" tcprst reason ", try p.u8(offset + 1))
        default: out.put(" unknown")
        }
        return true
    }

    private mutating func capable(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) -> Bool {
        let version = try p.u8(offset) & 15
        let flags = try p.u8(offset + 1)
        put(" capable v", version)
        out.put(" flags [")
        if flags == 0 { out.put("none") }
        // The flags have the letters A to H. Flag A is the most significant bit, and flag H is the least significant
        // bit.
        for index in UInt8(0)..<8 where flags & (0x80 >> index) != 0 { out.put(byte: UInt8(ascii: "A") + index) }
        out.put("]")
        if flags & Self.checksumRequired != 0 { out.put(" csum") }
        guard length >= 10 else { return true }
        putHex(" {0x", try p.u64(offset + 2))
        if length >= 18 { putHex(",0x", try p.u64(offset + 10)) }
        if length >= 20 { put(",data_len=", try p.u16(offset + 18)) }
        out.put("}")
        return true
    }

    private mutating func join(
        _ p: borrowing ByteView, _ offset: Int, _ length: Int, _ flags: TCPHeader.Flags
    ) throws(WireError) -> Bool {
        out.put(" join")
        if flags.contains(.syn) {
            if try p.u8(offset) & Self.backup != 0 { out.put(" backup") }
            put(" id ", try p.u8(offset + 1))
            if !flags.contains(.ack) {
                guard length == 10 else { return false }
                putHex(" token 0x", try p.u32(offset + 2))
                putHex(" nonce 0x", try p.u32(offset + 6))
            } else {
                guard length == 14 else { return false }
                putHex(" hmac 0x", try p.u64(offset + 2))
                putHex(" nonce 0x", try p.u32(offset + 10))
            }
            return true
        }
        guard length == 22 else { return false }
        out.put(" hmac 0x")
        for index in 2..<22 { out.hex(try p.u8(offset + index), width: 2) }
        return true
    }

    private mutating func dataSequence(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) -> Bool
    {
        let flags = try p.u8(offset + 1)
        let end = offset + length
        var place = offset + 2
        out.put(" dss")
        if flags & SignalFlag.dataFIN != 0 { out.put(" fin") }
        if flags & SignalFlag.dataACK != 0 {
            out.put(" ack ")
            let width = flags & SignalFlag.longDataACK != 0 ? 8 : 4
            guard place + width <= end else { return false }
            if width == 8 { out.decimal(try p.u64(place)) } else { out.decimal(try p.u32(place)) }
            place += width
        }
        if flags & SignalFlag.mapping != 0 {
            out.put(" seq ")
            let width = flags & SignalFlag.longSequence != 0 ? 8 : 4
            guard place + width + 6 <= end else { return false }
            if width == 8 { out.decimal(try p.u64(place)) } else { out.decimal(try p.u32(place)) }
            put(" subseq ", try p.u32(place + width))
            put(" len ", try p.u16(place + width + 4))
            place += width + 6
            if end - place >= 2 { putHex(" csum 0x", try p.u16(place)) }
        }
        return true
    }

    private mutating func addAddress(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) -> Bool {
        let kind = try p.u8(offset) & 15
        out.put(" add-addr")
        let version0 = kind == 4 || kind == 6
        let isIPv6 = version0 ? kind == 6 : length >= 18
        if version0 {
            put(" v0-ip", kind)
        } else {
            out.put(isIPv6 ? " v1-ip6" : " v1-ip4")
            if kind & Self.echo != 0 { out.put(" echo") }
        }
        put(" id ", try p.u8(offset + 1), " ")
        var place = offset + 2
        if isIPv6 {
            out.ipv6(high: try p.u64(place), low: try p.u64(place + 8))
            place += 16
        } else {
            out.ipv4(try p.u32(place))
            place += 4
        }
        let rest = offset + length - place
        if rest == 2 || rest == 10 {
            put(":", try p.u16(place))
            place += 2
        }
        if offset + length - place == 8 { putHex(" hmac 0x", try p.u64(place)) }
        return true
    }
}
