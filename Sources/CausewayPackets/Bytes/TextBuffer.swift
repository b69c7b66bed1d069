/// Text being made, as octets: what a printer writes into, and gives out again and again without allocating.
package struct TextBuffer: Sendable {
    package private(set) var octets: [UInt8] = []

    package init() {}

    package mutating func removeAll() { octets.removeAll(keepingCapacity: true) }
    package var isEmpty: Bool { octets.isEmpty }
    package var last: UInt8? { octets.last }
    package var count: Int { octets.count }
    package mutating func removeLast(_ count: Int) { octets.removeLast(min(count, octets.count)) }
    /// The text; octets that are no UTF-8 are replaced.
    package var string: String { String(decoding: octets, as: UTF8.self) }

    @inline(__always)
    package mutating func put(_ text: StaticString) {
        // A static string's octets live as long as the program.
        unsafe octets.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    @_disfavoredOverload
    package mutating func put(_ text: String) { octets.append(contentsOf: text.utf8) }
    @inline(__always)
    package mutating func put(octet: UInt8) { octets.append(octet) }
    package mutating func put(octets more: [UInt8]) { octets.append(contentsOf: more) }

    /// A decimal number, filled up on the left to `width` with `padding`.
    package mutating func decimal(_ value: UInt64, width: Int = 0, padding: UInt8 = 0x20) {
        let start = octets.count
        var rest = value
        repeat {
            octets.append(0x30 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        while octets.count - start < width { octets.append(padding) }
        octets[start...].reverse()
    }
    @inline(__always)
    package mutating func decimal<T: BinaryInteger>(_ value: T, width: Int = 0, padding: UInt8 = 0x20) {
        if value < 0 {
            octets.append(0x2D)
            decimal(UInt64(value.magnitude), width: width - 1, padding: padding)
        } else {
            decimal(UInt64(value), width: width, padding: padding)
        }
    }

    /// Hexadecimal digits in lower case, at least `width` of them, without `0x`.
    package mutating func hex<T: BinaryInteger & UnsignedInteger>(_ value: T, width: Int = 1) {
        let start = octets.count
        var rest = UInt64(value)
        repeat {
            octets.append(Self.digit(UInt8(rest & 15)))
            rest >>= 4
        } while rest > 0
        while octets.count - start < width { octets.append(0x30) }
        octets[start...].reverse()
    }
    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// A hardware address with colons.
    package mutating func mac(_ bits: UInt64) {
        for shift in stride(from: 40, through: 0, by: -8) {
            let octet = UInt8(truncatingIfNeeded: bits >> UInt64(shift))
            octets.append(Self.digit(octet >> 4))
            octets.append(Self.digit(octet & 15))
            if shift > 0 { octets.append(0x3A) }
        }
    }

    package mutating func ipv4(_ bits: UInt32) {
        decimal(UInt64(bits >> 24))
        octets.append(0x2E)
        decimal(UInt64(bits >> 16 & 255))
        octets.append(0x2E)
        decimal(UInt64(bits >> 8 & 255))
        octets.append(0x2E)
        decimal(UInt64(bits & 255))
    }

    /// The recommended form (RFC 5952 §4), with a dotted quad where IPv4 is embedded.
    package mutating func ipv6(high: UInt64, low: UInt64) {
        let zeros = Self.longestZeros(high, low)
        if zeros.lowerBound == 0, zeros.count == 6 || (zeros.count == 5 && low >> 32 == 0xFFFF) {
            put(zeros.count == 6 ? "::" : "::ffff:")
            return ipv4(UInt32(truncatingIfNeeded: low))
        }
        var position = 0
        while position < 8 {
            if position == zeros.lowerBound, !zeros.isEmpty {
                put("::")
                position = zeros.upperBound
                continue
            }
            if position > 0, position != zeros.upperBound || zeros.isEmpty { octets.append(0x3A) }
            hex(Self.group(high, low, position))
            position += 1
        }
    }

    private static func group(_ high: UInt64, _ low: UInt64, _ position: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (position < 4 ? high : low) >> UInt64(48 - 16 * (position & 3)))
    }

    private static func longestZeros(_ high: UInt64, _ low: UInt64) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for position in 0..<8 {
            if group(high, low, position) != 0 {
                start = position + 1
            } else if position + 1 - start > longest.count {
                longest = start..<position + 1
            }
        }
        return longest.count >= 2 ? longest : 0..<0
    }
}
