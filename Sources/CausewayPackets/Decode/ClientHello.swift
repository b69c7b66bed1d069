/// What a TLS client says first, as far as it is in one packet.
enum ClientHello {
    /// The name of the server that is asked for (RFC 6066 §3), or `nil` where this is no ClientHello or holds none.
    static func serverName(in octets: borrowing Octets) -> String? {
        (try? find(octets)) ?? nil
    }

    private static func find(_ octets: borrowing Octets) throws(CutOff) -> String? {
        // Record: handshake; message: ClientHello (RFC 8446 §5.1, §4).
        guard try octets.u8(0) == 22, try octets.u8(1) == 3, try octets.u8(5) == 1 else { return nil }
        var offset = 9 + 2 + 32
        offset += 1 + Int(try octets.u8(offset))
        offset += 2 + Int(try octets.u16(offset))
        offset += 1 + Int(try octets.u8(offset))
        let end = offset + 2 + Int(try octets.u16(offset))
        offset += 2
        while offset + 4 <= end {
            let type = try octets.u16(offset)
            let length = Int(try octets.u16(offset + 2))
            offset += 4
            if type == 0 {
                guard try octets.u8(offset + 2) == 0 else { return nil }
                let count = Int(try octets.u16(offset + 3))
                try octets.require(count, at: offset + 5)
                return String(decoding: octets.clamped(offset + 5, offset + 5 + count).array, as: UTF8.self)
            }
            offset += length
        }
        return nil
    }
}
