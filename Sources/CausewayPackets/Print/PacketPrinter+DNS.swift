/// Prints DNS messages up to the first damaged part. The resolver has another decoder, which rejects damaged messages.
extension PacketPrinter {
    private static let operations: [StaticString] = [
        "", " inv_q", " stat", " op3", " notify", " update", " op6", " op7", " op8", " updateA", " updateD",
        " updateDA",
        " updateM", " updateMA", " zoneInit", " zoneRef",
    ]
    private static let responses: [StaticString] = [
        "", " FormErr", " ServFail", " NXDomain", " NotImp", " Refused", " YXDomain", " YXRRSet", " NXRRSet",
        " NotAuth",
        " NotZone", " DSOTYPENI", " Resp12", " Resp13", " Resp14", " NoChange",
    ]
    private static let types: [UInt16: StaticString] = [
        1: "A", 2: "NS", 3: "MD", 4: "MF", 5: "CNAME", 6: "SOA", 7: "MB", 8: "MG", 9: "MR", 10: "NULL", 11: "WKS",
        12: "PTR",
        13: "HINFO", 14: "MINFO", 15: "MX", 16: "TXT", 17: "RP", 18: "AFSDB", 19: "X25", 20: "ISDN", 21: "RT",
        22: "NSAP",
        23: "NSAP_PTR", 24: "SIG", 25: "KEY", 26: "PX", 27: "GPOS", 28: "AAAA", 29: "LOC", 30: "NXT", 31: "EID",
        32: "NIMLOC",
        33: "SRV", 34: "ATMA", 35: "NAPTR", 36: "KX", 37: "CERT", 38: "A6", 39: "DNAME", 40: "SINK", 41: "OPT",
        42: "APL",
        43: "DS", 44: "SSHFP", 45: "IPSECKEY", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY", 49: "DHCID", 50: "NSEC3",
        51: "NSEC3PARAM", 52: "TLSA", 53: "SMIMEA", 55: "HIP", 59: "CDS", 60: "CDNSKEY", 61: "OPENPGPKEY", 62: "CSYNC",
        63: "ZONEMD", 64: "SVCB", 65: "HTTPS", 99: "SPF", 100: "UINFO", 101: "UID", 102: "GID", 103: "UNSPEC",
        104: "UNSPECA", 108: "EUI48", 109: "EUI64", 249: "TKEY", 250: "TSIG", 251: "IXFR", 252: "AXFR", 253: "MAILB",
        254: "MAILA", 255: "ANY", 256: "URI", 257: "CAA", 258: "AVC", 259: "DOA", 260: "AMTRELAY", 32768: "TA",
        32769: "DLV",
    ]

    mutating func dns(_ whole: borrowing ByteView, _ given: Int, isStream: Bool, isMulticast: Bool) throws(WireError) {
        part = "domain"
        var length = given
        var offset = 0
        if isStream {
            guard length >= 2 else { return streamTooShort(length) }
            out.put(" ")
            let stated = Int(try whole.u16(0))
            offset = 2
            length -= 2
            if stated > length {
                put("[prefix length ", stated)
                put(" > length ", length, "]")
                invalid()
                return
            }
            length = stated
        }
        let p = whole.from(offset)
        guard length >= 12 else {
            if isStream { return }
            out.put("domain")
            return broken("length", length, "<", 12)
        }
        let flags = try p.u16(2)
        put("", try p.u16(0))
        out.put(Self.operations[Int(flags >> 11 & 15)])
        let counts = (Int(try p.u16(4)), Int(try p.u16(6)), Int(try p.u16(8)), Int(try p.u16(10)))
        if flags & 0x8000 != 0 {
            try response(p, flags, counts, isMulticast)
        } else {
            try request(p, flags, counts, isMulticast)
        }
        put(" (", length, ")")
    }

    private mutating func streamTooShort(_ length: Int) {
        put(" [length ", length)
        out.put(" < 2]")
        invalid()
    }

    private mutating func response(
        _ p: borrowing ByteView, _ flags: UInt16, _ counts: (Int, Int, Int, Int), _ isMulticast: Bool
    ) throws(WireError) {
        out.put(Self.responses[Int(flags & 15)])
        if flags & 0x0400 != 0 { out.put("*") }
        if flags & 0x0080 == 0 { out.put("-") }
        if flags & 0x0200 != 0 { out.put("|") }
        if flags & 0x0020 != 0 { out.put("$") }
        if counts.0 != 1 { put(" [", counts.0, "q]") }
        var offset = 12
        for index in 0..<counts.0 {
            if index > 0, verbosity > 1 { out.put(",") }
            if verbosity > 1 {
                out.put(" q:")
                offset = try question(p, offset, isMulticast)
            } else {
                offset = try skipName(p, offset) + 4
                try p.require(0, at: offset)
            }
        }
        put(" ", counts.1)
        put("/", counts.2)
        put("/", counts.3)
        offset = try records(p, offset, counts.1, isMulticast)
        guard verbosity > 1 else { return }
        if counts.2 > 0 {
            if offset < p.count { out.put(" ns:") }
            offset = try records(p, offset, counts.2, isMulticast)
        }
        if counts.3 > 0 {
            if offset < p.count { out.put(" ar:") }
            offset = try records(p, offset, counts.3, isMulticast)
        }
    }

    mutating func request(
        _ p: borrowing ByteView, _ flags: UInt16, _ counts: (Int, Int, Int, Int), _ isMulticast: Bool
    ) throws(WireError) {
        if flags & 0x0100 != 0 { out.put("+") }
        if flags & 0x0010 != 0 { out.put("%") }
        if flags & 0x06CF != 0 { putHex(" [b2&3=0x", flags, "]") }
        if flags >> 11 & 15 == 1 {
            if counts.0 != 0 { put(" [", counts.0, "q]") }
            if counts.1 != 1 { put(" [", counts.1, "a]") }
        } else {
            if counts.1 != 0 { put(" [", counts.1, "a]") }
            if counts.0 != 1 { put(" [", counts.0, "q]") }
        }
        if counts.2 != 0 { put(" [", counts.2, "n]") }
        if counts.3 != 0 { put(" [", counts.3, "au]") }
        var offset = 12
        for _ in 0..<counts.0 {
            try p.require(1, at: offset)
            offset = try question(p, offset, isMulticast)
        }
        guard verbosity > 1 else { return }
        offset = try records(p, offset, counts.1, isMulticast)
        if counts.2 > 0 {
            if offset < p.count { out.put(" ns:") }
            offset = try records(p, offset, counts.2, isMulticast)
        }
        if counts.3 > 0 {
            if offset < p.count { out.put(" ar:") }
            offset = try records(p, offset, counts.3, isMulticast)
        }
    }

    mutating func type(_ number: UInt16) {
        out.put(" ")
        if let name = Self.types[number] { out.put(name) } else { put("Type", number) }
    }
    mutating func recordClass(_ number: UInt16) {
        let names: [UInt16: StaticString] = [3: "CHAOS", 4: "HS", 255: "ANY"]
        out.put(" ")
        if let name = names[number] { out.put(name) } else { put("(Class ", number, ")") }
    }

    private mutating func question(_ p: borrowing ByteView, _ start: Int, _ isMulticast: Bool) throws(WireError) -> Int
    {
        let offset = try skipName(p, start)
        try p.require(4, at: offset)
        type(try p.u16(offset))
        var number = try p.u16(offset + 2)
        if isMulticast {
            out.put(number & 0x8000 != 0 ? " (QU)" : " (QM)")
            number &= 0x7FFF
        }
        if number != 1 { recordClass(number) }
        out.put("? ")
        guard try dnsName(p, start) != nil else { throw .invalid("name", at: start) }
        return offset + 4
    }

    mutating func records(
        _ p: borrowing ByteView, _ start: Int, _ count: Int, _ isMulticast: Bool
    ) throws(WireError) -> Int {
        var offset = start
        for index in 0..<count {
            try p.require(1, at: offset)
            if index > 0 { out.put(",") }
            offset = try record(p, offset, isMulticast)
        }
        return offset
    }

    mutating func record(_ p: borrowing ByteView, _ start: Int, _ isMulticast: Bool) throws(WireError) -> Int {
        var offset = start
        if verbosity > 0 {
            out.put(" ")
            guard let next = try dnsName(p, offset) else { throw .invalid("name", at: offset) }
            offset = next
        } else {
            offset = try skipName(p, offset)
        }
        guard p.holds(10, at: offset) else { return p.count }
        let number = try p.u16(offset)
        var recordClass = try p.u16(offset + 2)
        let ttl = try p.u32(offset + 4)
        if isMulticast {
            if recordClass & 0x8000 != 0 { out.put(" (Cache flush)") }
            recordClass &= 0x7FFF
        }
        if recordClass != 1, number != 41 { self.recordClass(recordClass) }
        if number != 41, verbosity > 2 {
            out.put(" [")
            duration(ttl)
            out.put("]")
        }
        let length = Int(try p.u16(offset + 8))
        offset += 10
        type(number)
        try p.require(length, at: offset)
        try recordData(number, p, offset, offset + length, recordClass, ttl)
        return offset + length
    }

    private mutating func duration(_ seconds: UInt32) {
        if seconds == 0 { return out.put("0s") }
        var rest = seconds
        for (unit, name) in [(604800 as UInt32, "w" as StaticString), (86400, "d"), (3600, "h"), (60, "m"), (1, "s")] {
            if rest >= unit {
                put("", rest / unit)
                out.put(name)
                rest %= unit
            }
        }
    }

    mutating func nameOrEnd(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        out.put(" ")
        guard try dnsName(p, offset) != nil else { throw .invalid("name", at: offset) }
    }

    /// Returns the offset after a name, without following compression pointers.
    func skipName(_ p: borrowing ByteView, _ start: Int) throws(WireError) -> Int {
        var offset = start
        while true {
            let length = Int(try p.u8(offset))
            offset += 1
            if length == 0 { return offset }
            if length & 0xC0 == 0xC0 { return offset + 1 }
            if length & 0xC0 == 0x40 {
                guard length & 0x3F == 1 else { throw .invalid("label type", at: offset - 1) }
                let bits = Int(try p.u8(offset))
                offset += ((bits == 0 ? 256 : bits) + 7) / 8 + 1
                continue
            }
            offset += length
        }
    }

    /// Counts one character in a printed name. Returns whether to print this character.
    ///
    /// Only the first 255 characters in a name are printed. The text "<DOMAIN NAME TOO LONG>" replaces the rest.
    private mutating func nameHasRoom(_ count: inout Int, _ isTooLong: inout Bool) -> Bool {
        count += 1
        if count > 255, !isTooLong {
            out.put("<DOMAIN NAME TOO LONG>")
            isTooLong = true
        }
        return !isTooLong
    }

    /// Prints a name. Returns the offset after the name's own bytes, or `nil` if a pointer or a label type is invalid.
    mutating func dnsName(_ p: borrowing ByteView, _ start: Int) throws(WireError) -> Int? {
        var (offset, end, limit) = (start, -1, start)
        var (count, isTooLong) = (0, false)
        var length = Int(try p.u8(offset))
        offset += 1
        if length == 0 {
            out.put(".")
            return offset
        }
        while length != 0, offset <= p.count {
            if length & 0xC0 == 0xC0 {
                if end < 0 { end = offset + 1 }
                let target = (length & 0x3F) << 8 | Int(try p.u8(offset))
                // Pointers may lead only backwards, so the loop terminates.
                guard target < limit else {
                    out.put("<BAD PTR>")
                    return nil
                }
                limit = target
                offset = target
                length = Int(try p.u8(offset))
                offset += 1
                continue
            }
            if length & 0xC0 != 0 {
                if length & 0x80 != 0 { out.put("<BAD LABEL TYPE>") } else { put("<ELT ", length & 0x3F, ">") }
                return nil
            }
            for index in 0..<length {
                let byte = try p.u8(offset + index)
                guard nameHasRoom(&count, &isTooLong) else { continue }
                visible(byte)
            }
            offset += length
            if nameHasRoom(&count, &isTooLong) { out.put(".") }
            length = Int(try p.u8(offset))
            offset += 1
        }
        return end < 0 ? offset : end
    }
}
