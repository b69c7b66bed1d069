/// CRC-32C (RFC 3720 §12.1). Detects torn and damaged records, not forged ones.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0x82F6_3B78 : value >> 1 }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = Self.table
        var value = UInt32.max
        for byte in bytes { value = (value >> 8) ^ table[Int((value ^ UInt32(byte)) & 0xFF)] }
        return ~value
    }
}
