/// CRC-32C (RFC 3720 §12.1). Detects torn and damaged records, not forged ones.
enum Checksum {
    private static let polynomial: UInt32 = 0x82F6_3B78
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in byX(value) }
    }
    /// The polynomials x^8, x^16, x^32 and so on, each the square of the polynomial before it.
    private static let powers: [UInt32] = (0..<32).reduce(into: [0x0080_0000]) { powers, index in
        powers.append(product(powers[index], powers[index]))
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 { ~extend(.max, with: bytes) }

    /// Adds bytes to the checksum register.
    static func extend(_ register: UInt32, with bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = Self.table
        var value = register
        for byte in bytes { value = (value >> 8) ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
        return value
    }

    /// Returns the checksum register as if `count` zero bytes followed the data. The running time grows only with the
    /// logarithm of `count`.
    static func shift(_ register: UInt32, byZeroBytes count: Int) -> UInt32 {
        var (value, rest, index) = (register, UInt32(clamping: count), 0)
        while rest > 0 {
            if rest & 1 == 1 { value = product(value, powers[index]) }
            (rest, index) = (rest >> 1, index + 1)
        }
        return value
    }

    /// Multiplies a polynomial by x, modulo the CRC polynomial. The most significant bit is the coefficient of x^0.
    private static func byX(_ value: UInt32) -> UInt32 { value & 1 == 1 ? (value >> 1) ^ polynomial : value >> 1 }

    private static func product(_ one: UInt32, _ other: UInt32) -> UInt32 {
        var (sum, rest, term) = (UInt32(0), one, other)
        while rest != 0 {
            if rest & 0x8000_0000 != 0 { sum ^= term }
            (rest, term) = (rest << 1, byX(term))
        }
        return sum
    }
}

/// Calculates the checksum of any part of a byte string. The initializer reads all bytes once. After that, the time for
/// a part does not depend on its size.
struct ChecksumIndex: Sendable {
    private static let spacing = 64

    private let bytes: ArraySlice<UInt8>
    /// Values of the checksum register. The first value is 0, and one more value follows after every 64 bytes. The
    /// checksum of a part follows from two values: the value at its start and the value at its end.
    private let registers: [UInt32]

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        var registers: [UInt32] = [0]
        registers.reserveCapacity(bytes.count / Self.spacing + 1)
        var (register, position) = (UInt32(0), bytes.startIndex)
        while bytes.endIndex - position >= Self.spacing {
            register = Checksum.extend(register, with: bytes[position..<(position + Self.spacing)])
            registers.append(register)
            position += Self.spacing
        }
        self.registers = registers
    }

    /// Returns the checksum of `head` followed by a part of the bytes.
    func checksum(of part: Range<Int>, after head: ArraySlice<UInt8>) -> UInt32 {
        let start = Checksum.extend(.max, with: head) ^ register(at: part.lowerBound)
        return ~(Checksum.shift(start, byZeroBytes: part.count) ^ register(at: part.upperBound))
    }

    private func register(at position: Int) -> UInt32 {
        let index = (position - bytes.startIndex) / Self.spacing
        return Checksum.extend(registers[index], with: bytes[(bytes.startIndex + index * Self.spacing)..<position])
    }
}
