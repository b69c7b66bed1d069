/// Prints the radiotap header with a wireless frame's reception parameters (radiotap.org).
extension PacketPrinter {
    private enum Field {
        static let clock = 0
        static let flags = 1
        static let rate = 2
        static let channel = 3
        static let hopping = 4
        static let signal = 5
        static let noise = 6
        static let quality = 7
        static let attenuation = 8
        static let attenuationDecibel = 9
        static let power = 10
        static let antenna = 11
        static let relativeSignal = 12
        static let relativeNoise = 13
        static let receiveFlags = 14
        static let extendedChannel = 18
        static let modulation = 19
        static let aggregate = 20
        static let veryHigh = 21
        static let more = 31
        /// The size and the alignment of each field, in bytes.
        static let sizes: [Int: (count: Int, alignment: Int)] = [
            clock: (8, 8), flags: (1, 1), rate: (1, 1), channel: (4, 2), hopping: (2, 1), signal: (1, 1), noise: (1, 1),
            quality: (2, 2), attenuation: (2, 2), attenuationDecibel: (2, 2), power: (1, 1), antenna: (1, 1),
            relativeSignal: (1, 1), relativeNoise: (1, 1), receiveFlags: (2, 2), extendedChannel: (8, 4),
            modulation: (3, 1), aggregate: (8, 4), veryHigh: (12, 2),
        ]
    }
    private enum Flag {
        static let checkSequence: UInt8 = 0x10
        static let padded: UInt8 = 0x20
        static let names: [(UInt8, StaticString)] = [
            (0x01, "cfp "), (0x02, "short preamble "), (0x04, "wep "), (0x08, "fragmented "), (0x40, "bad-fcs "),
        ]
    }
    private static let maximumWords = 8

    /// Prints the header. Returns its length in bytes.
    mutating func radiotap(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Int {
        part = "802.11_radio"
        let header = Int(try little16(p, 2))
        guard header >= 8 else { throw .invalid("header length", at: 2) }
        try p.require(header, at: 0)
        let fields = p.prefix(header)
        let flags = try radiotapFields(fields)
        let trailer = flags & Flag.checkSequence != 0 ? 4 : 0
        let (captured, rest) = (p.from(header), length - header - trailer)
        try wireless(captured.prefix(max(rest, 0)), rest, isPadded: flags & Flag.padded != 0)
        return header
    }

    /// Prints the radiotap fields in order, up to the first field whose size is unknown. Returns the value of the flags
    /// field.
    private mutating func radiotapFields(_ p: borrowing ByteView) throws(WireError) -> UInt8 {
        let present = try p.u32(4).byteSwapped
        var (words, last) = (1, present)
        while last >> UInt32(Field.more) != 0, words < Self.maximumWords {
            last = try p.u32(4 + 4 * words).byteSwapped
            words += 1
        }
        var offset = 4 + 4 * words
        var flags: UInt8 = 0
        for bit in 0..<Field.more where present >> UInt32(bit) & 1 != 0 {
            guard let size = Field.sizes[bit] else {
                put("[bit ", bit, "] ")
                return flags
            }
            offset = (offset + size.alignment - 1) / size.alignment * size.alignment
            try p.require(size.count, at: offset)
            if bit == Field.flags { flags = try p.u8(offset) }
            try field(bit, p, offset, present)
            offset += size.count
        }
        // The header can contain several presence words, each with a list of fields. The words after the first describe
        // other antennas or vendor fields. The printer leaves out those fields.
        if words > 1 { put("[bit ", 32, "] ") }
        return flags
    }

    private mutating func field(
        _ bit: Int, _ p: borrowing ByteView, _ offset: Int, _ present: UInt32
    ) throws(WireError) {
        switch bit {
        case Field.clock: put("", try p.u64(offset).byteSwapped, "us tsft ")
        case Field.flags:
            let flags = try p.u8(offset)
            for (flag, name) in Flag.names where flags & flag != 0 { out.put(name) }
        case Field.rate:
            let rate = try p.u8(offset)
            if rate >= 0x80, rate <= 0x8F { return put("MCS ", rate & 0x7F, " ") }
            halves(rate & 0x7F)
            out.put(" Mb/s ")
        case Field.channel:
            put("", try little16(p, offset), " MHz")
            channel(try little16(p, offset + 2), isHigh: present >> UInt32(Field.modulation) & 1 != 0)
        case Field.hopping:
            put("fhset ", try p.u8(offset))
            put(" fhpat ", try p.u8(offset + 1), " ")
        case Field.signal: put("", Int8(bitPattern: try p.u8(offset)), "dBm signal ")
        case Field.noise: put("", Int8(bitPattern: try p.u8(offset)), "dBm noise ")
        case Field.quality: put("", try little16(p, offset), " sq ")
        case Field.attenuation: put("", -Int(try little16(p, offset)), " tx power ")
        case Field.attenuationDecibel: put("", -Int(try little16(p, offset)), "dB tx attenuation ")
        case Field.power: put("", Int8(bitPattern: try p.u8(offset)), "dBm tx power ")
        case Field.antenna: put("antenna ", try p.u8(offset), " ")
        case Field.relativeSignal: put("", try p.u8(offset), "dB signal ")
        case Field.relativeNoise: put("", try p.u8(offset), "dB noise ")
        case Field.modulation: try modulation(p, offset)
        case Field.veryHigh: try veryHigh(p, offset)
        default: break
        }
    }

    private mutating func channel(_ flags: UInt16, isHigh: Bool) {
        let (cck, ofdm, low, high, mixed): (UInt16, UInt16, UInt16, UInt16, UInt16) = (0x20, 0x40, 0x80, 0x100, 0x400)
        if isHigh {
            out.put(" 11n")
        } else if flags & (ofdm | high) == ofdm | high {
            out.put(" 11a")
        } else if flags & low != 0, flags & (ofdm | mixed) != 0 {
            out.put(" 11g")
        } else if flags & (cck | low) == cck | low {
            out.put(" 11b")
        }
        out.put(" ")
    }

    private enum Modulation {
        static let width: UInt8 = 0x01
        static let index: UInt8 = 0x02
        static let guardInterval: UInt8 = 0x04
        static let format: UInt8 = 0x08
        static let correction: UInt8 = 0x10
        static let streams: UInt8 = 0x20
        /// Bit rates of one 802.11n stream, in units of 100 kbit/s.
        ///
        /// The first row applies to 20 MHz channels, the second to 40 MHz channels. The column number is the MCS index
        /// modulo 8.
        static let rates = [[65, 130, 195, 260, 390, 520, 585, 650], [135, 270, 405, 540, 810, 1080, 1215, 1350]]
    }

    private mutating func modulation(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        let (known, flags, index) = (try p.u8(offset), try p.u8(offset + 1), try p.u8(offset + 2))
        let (isWide, isShort) = (flags & 3 == 1, flags & 4 != 0)
        if known & Modulation.index != 0 {
            if known & Modulation.width != 0, known & Modulation.guardInterval != 0, index < 32 {
                let long = Modulation.rates[isWide ? 1 : 0][Int(index & 7)] * (Int(index >> 3) + 1)
                let rate = isShort ? (long * 20 + 9) / 18 : long
                put("", rate / 10, ".")
                put("", rate % 10, " Mb/s ")
            }
            put("MCS ", index, " ")
        }
        if known & Modulation.width != 0 {
            let widths: [StaticString] = ["20 MHz ", "40 MHz ", "20L ", "20U "]
            out.put(widths[Int(flags & 3)])
        }
        if known & Modulation.guardInterval != 0 { out.put(isShort ? "short GI " : "long GI ") }
        if known & Modulation.format != 0 { out.put(flags & 8 != 0 ? "greenfield " : "mixed ") }
        if known & Modulation.correction != 0 { out.put(flags & 16 != 0 ? "LDPC FEC " : "BCC FEC ") }
        if known & Modulation.streams != 0 { put("RX-STBC", flags >> 5 & 3, " ") }
    }

    private mutating func veryHigh(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        let known = try little16(p, offset)
        let (flags, width, coding) = (try p.u8(offset + 2), try p.u8(offset + 3) & 0x1F, try p.u8(offset + 8))
        for user in 0..<4 {
            let rate = try p.u8(offset + 4 + user)
            guard rate & 15 != 0 else { continue }
            put("User ", user)
            put(" MCS ", rate >> 4, " ")
            out.put(coding >> UInt8(user) & 1 != 0 ? "LDPC FEC " : "BCC FEC ")
        }
        if known & 0x40 != 0 {
            let widths: [UInt8: StaticString] = [0: "20 MHz ", 1: "40 MHz ", 4: "80 MHz ", 11: "160 MHz "]
            out.put(widths[width] ?? "unknown bandwidth ")
        }
        if known & 0x04 != 0 { out.put(flags & 4 != 0 ? "short GI " : "long GI ") }
    }
}
