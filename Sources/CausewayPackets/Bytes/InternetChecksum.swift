/// The Internet protocols' ones'-complement checksum (RFC 1071).
///
/// The bytes can be added in parts if each part begins at an even offset.
public struct InternetChecksum: Sendable {
    @usableFromInline var sum: UInt64 = 0

    /// Creates a checksum over no bytes.
    @inlinable public init() {}

    /// Adds bytes. An odd last byte counts as if a zero followed.
    @inlinable
    public mutating func add(_ bytes: borrowing ByteView) {
        add(bytes.rawSpan)
    }

    @inlinable
    mutating func add(_ bytes: RawSpan) {
        var words = ChecksumSum()
        words.add(bytes, 0, bytes.byteCount)
        sum &+= UInt64(~words.value)
    }

    /// Adds one 16-bit word in host byte order.
    @inlinable public mutating func add(_ word: UInt16) { sum &+= UInt64(word) }
    /// Adds a 32-bit number in host byte order as two words.
    @inlinable public mutating func add(_ number: UInt32) { sum &+= UInt64(number >> 16) &+ UInt64(number & 0xFFFF) }

    /// The checksum field's value: the complement of the sum.
    @inlinable public var value: UInt16 {
        var folded = sum
        while folded > 0xFFFF { folded = (folded & 0xFFFF) &+ (folded >> 16) }
        return ~UInt16(truncatingIfNeeded: folded)
    }

    /// Returns the checksum over `bytes` alone.
    @inlinable
    public static func of(_ bytes: borrowing ByteView) -> UInt16 {
        var checksum = InternetChecksum()
        checksum.add(bytes)
        return checksum.value
    }
}

/// A ones'-complement sum over 16-bit words.
///
/// The words are added in memory order, without byte order conversion. In the other byte order, the sum would have the
/// same two bytes in swapped order. So one byte swap of the final sum suffices (RFC 1071 §2).
@usableFromInline
struct ChecksumSum {
    @usableFromInline var sum: UInt64 = 0

    @inlinable @inline(__always) init() {}

    /// Adds a word in memory order.
    @inlinable @inline(__always)
    mutating func add(_ word: UInt16) { carry(UInt64(word)) }

    /// Adds a number with end-around carry.
    @inlinable @inline(__always)
    mutating func carry(_ number: UInt64) {
        let (next, overflow) = sum.addingReportingOverflow(number)
        sum = next &+ (overflow ? 1 : 0)
    }

    /// Adds the bytes in `start..<end`. An odd last byte counts as if a zero followed.
    @inlinable @inline(__always)
    mutating func add(_ bytes: RawSpan, _ start: Int, _ end: Int) {
        precondition(start >= 0 && start <= end && end <= bytes.byteCount)
        var offset = start
        if end &- start >= 64 { offset = addMany(bytes, start, end) }
        // In bounds: the precondition above checks the range.
        while end &- offset >= 8 {
            carry(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        if end &- offset >= 4 {
            carry(UInt64(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)))
            offset &+= 4
        }
        if offset < end { addLast(bytes, offset, end) }
    }

    /// Adds eight bytes with two 32-bit loads. If two different stores have just written the bytes, a single 64-bit
    /// load would have to wait. This is the case for the addresses of an IPv4 header.
    @inline(__always)
    mutating func addPair(_ bytes: RawSpan, _ start: Int) {
        precondition(start >= 0 && start <= bytes.byteCount &- 8)
        carry(UInt64(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt32.self)))
        carry(UInt64(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start &+ 4, as: UInt32.self)))
    }

    /// Rotates the sum by one byte. This corrects the sum if the added bytes begin at an odd offset.
    @inline(__always)
    mutating func swap() { sum = sum << 8 | sum >> 56 }

    /// Adds the last one to three bytes of the data to the sum.
    @inlinable
    mutating func addLast(_ bytes: RawSpan, _ start: Int, _ end: Int) {
        var offset = start
        if end &- offset >= 2 {
            carry(UInt64(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)))
            offset &+= 2
        }
        guard offset < end else { return }
        let last = UInt16(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self))
        carry(UInt64(UInt16(bigEndian: last << 8)))
    }

    /// Adds 64 bytes at a time into four independent sums. The caller has checked the range. Returns the offset after
    /// the last added byte.
    @inlinable @inline(never)
    mutating func addMany(_ bytes: RawSpan, _ start: Int, _ end: Int) -> Int {
        var (a, b, c, d) = (ChecksumSum(), ChecksumSum(), ChecksumSum(), ChecksumSum())
        var place = start
        while end &- place >= 64 {
            a.carry(bytes.eight(place))
            b.carry(bytes.eight(place &+ 8))
            c.carry(bytes.eight(place &+ 16))
            d.carry(bytes.eight(place &+ 24))
            a.carry(bytes.eight(place &+ 32))
            b.carry(bytes.eight(place &+ 40))
            c.carry(bytes.eight(place &+ 48))
            d.carry(bytes.eight(place &+ 56))
            place &+= 64
        }
        carry(a.sum)
        carry(b.sum)
        carry(c.sum)
        carry(d.sum)
        return place
    }

    /// The checksum field's value: the complement of the sum.
    @inlinable @inline(__always)
    var value: UInt16 {
        // Fold the sum to 16 bits: add both halves, with end-around carry.
        let half = UInt32(truncatingIfNeeded: sum).addingReportingOverflow(UInt32(truncatingIfNeeded: sum >> 32))
        let word = half.partialValue &+ (half.overflow ? 1 : 0)
        let quarter = UInt16(truncatingIfNeeded: word).addingReportingOverflow(UInt16(truncatingIfNeeded: word >> 16))
        let folded = quarter.partialValue &+ (quarter.overflow ? 1 : 0)
        return ~UInt16(bigEndian: folded)
    }
}

extension RawSpan {
    /// Loads eight bytes in memory order. The caller has checked the range.
    @inlinable @inline(__always)
    func eight(_ offset: Int) -> UInt64 {
        unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    }
}

/// The result of checksum verification.
public enum ChecksumStatus: UInt8, Sendable, Equatable {
    /// The protocol or the packet has no checksum.
    case notPresent
    /// The checksum is correct.
    case good
    /// The checksum is wrong.
    case bad
    /// The network card computes the checksum: the captured field holds only a partial sum.
    case offloaded
    /// The capture does not contain all bytes that the checksum covers. Or the checksum covers more than this fragment.
    case unknown
}
