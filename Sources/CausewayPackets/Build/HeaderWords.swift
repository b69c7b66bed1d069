public import CausewayTypes

/// A 20-byte header in memory order, stored as two 64-bit words and one 32-bit word. The checksum adds these three
/// words. A load with another word size could span two of the stores, and would have to wait until both are complete.
@usableFromInline
struct HeaderWords {
    @usableFromInline var first: UInt64
    @usableFromInline var second: UInt64
    @usableFromInline var third: UInt32

    /// Creates a 20-byte header from five 32-bit words in host byte order.
    @inlinable @inline(__always)
    init(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ e: UInt32) {
        first = (UInt64(a) << 32 | UInt64(b)).bigEndian
        second = (UInt64(c) << 32 | UInt64(d)).bigEndian
        third = e.bigEndian
    }

    /// The header's ones'-complement sum, for its checksum.
    @inline(__always)
    var sum: UInt64 {
        var sum = ChecksumSum()
        sum.carry(first)
        sum.carry(second)
        sum.carry(UInt64(third))
        return sum.sum
    }

    /// Returns the size of `options` in a header, in bytes: at most 40, rounded up to a multiple of four.
    @inlinable @inline(__always)
    static func filled(_ options: [UInt8]) -> Int { (min(options.count, 40) &+ 3) / 4 * 4 }
}

extension IPv4Header {
    @inlinable @inline(__always)
    var words: HeaderWords {
        let length = UInt32(truncatingIfNeeded: 5 &+ HeaderWords.filled(options) / 4)
        let fragment = UInt32(flags.rawValue | fragmentOffset & 0x1FFF)
        return HeaderWords(
            (0x40 | length) << 24 | UInt32(typeOfService) << 16 | UInt32(totalLength ?? 0),
            UInt32(identification) << 16 | fragment,
            UInt32(timeToLive) << 24 | UInt32(proto.rawValue) << 16 | UInt32(checksum ?? 0), source.bits,
            destination.bits)
    }
}

extension TCPHeader {
    @inlinable @inline(__always)
    var words: HeaderWords {
        let length = dataOffset ?? UInt8(truncatingIfNeeded: 5 &+ HeaderWords.filled(options) / 4)
        return HeaderWords(
            UInt32(sourcePort) << 16 | UInt32(destinationPort), sequence, acknowledgement,
            UInt32(length & 15) << 28 | UInt32(flags.rawValue & 0x1FF) << 16 | UInt32(window),
            UInt32(checksum ?? 0) << 16 | UInt32(urgentPointer))
    }
}
