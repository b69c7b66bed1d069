/// The properties of a pcapng section that a reader needs to interpret the packets in the section.
struct PcapngSection: Sendable {
    var isBigEndian = false
    var interfaces: [Interface] = []

    struct Interface: Sendable {
        var linkType: LinkType
        var snapLength: UInt32
        /// The timestamp unit as an exponent: 6 means 10^-6 seconds. If the highest bit is set, the base is two
        /// instead of ten.
        var resolution: UInt8 = 6
        /// Seconds to add to each timestamp from this interface.
        var timeOffset: Int64 = 0

        /// Converts a 64-bit timestamp.
        func time(_ stamp: UInt64) -> CaptureTime {
            let exponent = Int(resolution & 0x7F)
            if resolution == 6 { return split(stamp, 1_000_000, scale: nil) }
            if resolution == 9 { return split(stamp, 1_000_000_000, scale: 1) }
            if resolution & 0x80 != 0 {
                guard exponent < 64 else { return CaptureTime(seconds: timeOffset, nanoseconds: 0) }
                let unit = UInt64(1) << UInt64(exponent)
                let fraction = (stamp & (unit - 1)).multipliedFullWidth(by: 1_000_000_000)
                let nanoseconds = unit.dividingFullWidth((fraction.high, fraction.low)).quotient
                return CaptureTime(
                    seconds: add(stamp >> UInt64(exponent)), nanoseconds: UInt32(truncatingIfNeeded: nanoseconds))
            }
            guard exponent < 20 else { return CaptureTime(seconds: timeOffset, nanoseconds: 0) }
            var unit: UInt64 = 1
            for _ in 0..<exponent { unit *= 10 }
            let part = (stamp % unit).multipliedFullWidth(by: 1_000_000_000)
            let nanoseconds = unit.dividingFullWidth((part.high, part.low)).quotient
            return CaptureTime(seconds: add(stamp / unit), nanoseconds: UInt32(truncatingIfNeeded: nanoseconds))
        }

        private func split(_ stamp: UInt64, _ unit: UInt64, scale: UInt64?) -> CaptureTime {
            let fraction = UInt32(truncatingIfNeeded: stamp % unit)
            return scale == nil
                ? CaptureTime(seconds: add(stamp / unit), microseconds: fraction)
                : CaptureTime(seconds: add(stamp / unit), nanoseconds: fraction)
        }

        private func add(_ seconds: UInt64) -> Int64 { Int64(truncatingIfNeeded: seconds) &+ timeOffset }
    }
}

extension CaptureFileReader {
    /// The maximum block size in bytes, as in other readers.
    static let largestBlock = 16 * 1024 * 1024

    mutating func nextPcapng() throws(CaptureFileError) -> Found? {
        while true {
            guard buffer.count - position >= 12 else { return nil }
            let rawType = word(at: position) ?? 0
            if rawType == 0x0A0D_0D0A { try beginSection() }
            let length = Int(number(at: position + 4))
            guard length >= 12, length % 4 == 0 else {
                throw .malformed("a block of \(length) bytes", offset: fileOffset)
            }
            guard length <= Self.largestBlock else {
                throw .malformed("a block of \(length) bytes", offset: fileOffset)
            }
            guard buffer.count - position >= length else { return nil }
            guard Int(number(at: position + length - 4)) == length else {
                throw .malformed("a block whose two lengths differ", offset: fileOffset)
            }
            let found = try block(rawType, body: position + 8..<position + length - 4)
            position += length
            if let found { return found }
        }
    }

    func number(at offset: Int) -> UInt32 {
        let value = word(at: offset) ?? 0
        return section.isBigEndian ? value.byteSwapped : value
    }

    private func short(at offset: Int) -> UInt16 {
        guard offset >= 0, offset + 2 <= buffer.count else { return 0 }
        let value = UInt16(buffer[offset]) | UInt16(buffer[offset + 1]) << 8
        return section.isBigEndian ? value.byteSwapped : value
    }

    private mutating func beginSection() throws(CaptureFileError) {
        switch word(at: position + 8) {
        case 0x1A2B_3C4D: section = PcapngSection(isBigEndian: false)
        case 0x4D3C_2B1A: section = PcapngSection(isBigEndian: true)
        default: throw .malformed("a section without a byte order", offset: fileOffset)
        }
    }

    private mutating func block(_ rawType: UInt32, body: Range<Int>) throws(CaptureFileError) -> Found? {
        let type = section.isBigEndian ? rawType.byteSwapped : rawType
        switch type {
        case 0x0A0D_0D0A:
            let major = short(at: body.lowerBound + 4)
            guard body.count >= 16, major == 1 else {
                throw .malformed("version \(major) of pcapng", offset: fileOffset)
            }
            return nil
        case 1:
            try interface(body)
            return nil
        case 2: return try packet(body, interface: Int(short(at: body.lowerBound)))
        case 3: return try simplePacket(body)
        case 6: return try packet(body, interface: Int(number(at: body.lowerBound)))
        default: return nil
        }
    }

    private mutating func interface(_ body: Range<Int>) throws(CaptureFileError) {
        guard body.count >= 8 else {
            throw .malformed("an interface block of \(body.count) bytes", offset: fileOffset)
        }
        // A file can describe any number of interfaces. Limit the memory that they use.
        guard section.interfaces.count < 65_536 else { throw .malformed("too many interfaces", offset: fileOffset) }
        var interface = PcapngSection.Interface(
            linkType: LinkType(fileValue: UInt32(short(at: body.lowerBound))),
            snapLength: number(at: body.lowerBound + 4))
        var offset = body.lowerBound + 8
        while offset + 4 <= body.upperBound {
            let code = short(at: offset)
            let count = Int(short(at: offset + 2))
            guard code != 0, offset + 4 + count <= body.upperBound else { break }
            if code == 9, count >= 1 { interface.resolution = buffer[offset + 4] }
            if code == 14, count >= 8 {
                let (first, second) = (UInt64(number(at: offset + 4)), UInt64(number(at: offset + 8)))
                let bits = section.isBigEndian ? first << 32 | second : second << 32 | first
                interface.timeOffset = Int64(bitPattern: bits)
            }
            offset += 4 + (count + 3) / 4 * 4
        }
        section.interfaces.append(interface)
    }

    /// Reads an enhanced or an obsolete packet block. After the interface number, both have the same fields.
    private func packet(_ body: Range<Int>, interface number: Int) throws(CaptureFileError) -> Found? {
        guard body.count >= 20 else { throw .malformed("a packet block of \(body.count) bytes", offset: fileOffset) }
        guard section.interfaces.indices.contains(number) else {
            throw .malformed("a packet of interface \(number), which no block describes", offset: fileOffset)
        }
        let interface = section.interfaces[number]
        let start = body.lowerBound
        let captured = Int(self.number(at: start + 12))
        guard captured <= body.count - 20, captured <= Self.largestPacket else {
            throw .malformed("a packet of \(captured) bytes in a block of \(body.count)", offset: fileOffset)
        }
        let stamp = UInt64(self.number(at: start + 4)) << 32 | UInt64(self.number(at: start + 8))
        var packet = CapturedPacket(
            time: interface.time(stamp), originalCount: Int(self.number(at: start + 16)), capturedCount: captured,
            linkType: interface.linkType)
        packet.interface = number
        return Found(packet: packet, range: start + 20..<start + 20 + captured)
    }

    private func simplePacket(_ body: Range<Int>) throws(CaptureFileError) -> Found? {
        guard body.count >= 4, let interface = section.interfaces.first else {
            throw .malformed("a simple packet without an interface", offset: fileOffset)
        }
        let original = Int(number(at: body.lowerBound))
        var captured = min(original, body.count - 4, Self.largestPacket)
        if interface.snapLength != 0 { captured = min(captured, Int(interface.snapLength)) }
        let packet = CapturedPacket(
            time: CaptureTime(seconds: 0, microseconds: 0), originalCount: original, capturedCount: captured,
            linkType: interface.linkType)
        return Found(packet: packet, range: body.lowerBound + 4..<body.lowerBound + 4 + captured)
    }
}
