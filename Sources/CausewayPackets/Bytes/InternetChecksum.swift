/// The ones'-complement sum of the Internet protocols (RFC 1071).
///
/// Sums of parts can be added as long as each part begins at an even octet.
public struct InternetChecksum: Sendable {
    @usableFromInline var sum: UInt64 = 0

    @inlinable public init() {}

    /// Adds octets; an odd last one counts as if a zero followed.
    @inlinable
    public mutating func add(_ octets: borrowing Octets) {
        add(octets.bytes)
    }

    @inlinable
    mutating func add(_ bytes: RawSpan) {
        let count = bytes.byteCount
        var offset = 0
        var wide: UInt64 = 0
        var carries: UInt64 = 0
        // Eight octets at a time: the sum is the same in either byte order, up to a swap at the end (RFC 1071 §2).
        while count &- offset >= 8 {
            let part = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
            let (next, overflow) = wide.addingReportingOverflow(part)
            wide = next
            carries &+= overflow ? 1 : 0
            offset &+= 8
        }
        var folded = (wide & 0xFFFF_FFFF) &+ (wide >> 32) &+ carries
        while count &- offset >= 2 {
            folded &+= UInt64(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
            offset &+= 2
        }
        if offset < count {
            let last = UInt16(unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self))
            folded &+= UInt64(UInt16(bigEndian: last << 8))
        }
        while folded > 0xFFFF { folded = (folded & 0xFFFF) &+ (folded >> 16) }
        sum &+= UInt64(UInt16(bigEndian: UInt16(truncatingIfNeeded: folded)))
    }

    /// Adds one 16-bit word.
    @inlinable public mutating func add(_ word: UInt16) { sum &+= UInt64(word) }
    /// Adds a 32-bit number as two words.
    @inlinable public mutating func add(_ number: UInt32) { sum &+= UInt64(number >> 16) &+ UInt64(number & 0xFFFF) }

    /// What is written into a header: the complement of the sum.
    @inlinable public var value: UInt16 {
        var folded = sum
        while folded > 0xFFFF { folded = (folded & 0xFFFF) &+ (folded >> 16) }
        return ~UInt16(truncatingIfNeeded: folded)
    }

    /// The checksum of `octets` alone.
    @inlinable
    public static func of(_ octets: borrowing Octets) -> UInt16 {
        var checksum = InternetChecksum()
        checksum.add(octets)
        return checksum.value
    }
}

/// What a checksum in a packet is worth.
public enum ChecksumStatus: UInt8, Sendable, Equatable {
    /// The protocol or the packet has none.
    case notPresent
    case good
    case bad
    /// Left to the network card: what was captured holds only the beginning of the sum.
    case offloaded
    /// Octets that it covers were not captured, or it covers more than this fragment.
    case unknown
}
