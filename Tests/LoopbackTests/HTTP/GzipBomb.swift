import Foundation

/// Gzip content (RFC 1952) of zeros, with the highest ratio that deflate (RFC 1951) permits: 1,032 bytes for one.
enum GzipBomb {
    /// Returns a member whose checksum is wrong, because a reader should refuse it long before.
    static func make(megabytes: Int) -> Data {
        var bits = BitWriter()
        // The last block, with dynamic codes: 286 for literals and lengths, 1 for distances, and 18 for the lengths of those codes.
        bits.write(1, 1)
        bits.write(2, 2)
        bits.write(29, 5)
        bits.write(0, 5)
        bits.write(14, 4)
        // Lengths of the codes for 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1: 18 has "0", 1 has "10", 2 has "11".
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.write(length, 3) }
        // Literal 0 has two bits, the end of the block (256) two, length 258 (285) one; the only distance, 1, has one.
        bits.code("11")
        bits.zeros(138)
        bits.zeros(117)
        bits.code("11")
        bits.zeros(28)
        bits.code("10")
        bits.code("10")
        // A zero, then copies of 258 bytes, two bits each, then the end.
        bits.code("10")
        for _ in 0..<(megabytes << 20) / 258 { bits.code("00") }
        bits.code("11")
        return Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]) + bits.finish() + Data(count: 8)
    }

    private struct BitWriter {
        private var bytes = Data()
        private var current: UInt8 = 0
        private var count = 0

        /// Writes a number, its lowest bit first.
        mutating func write(_ value: Int, _ length: Int) { for bit in 0..<length { add(value >> bit & 1) } }

        /// Writes a Huffman code, its highest bit first.
        mutating func code(_ text: String) { for digit in text.utf8 { add(digit == UInt8(ascii: "1") ? 1 : 0) } }

        /// Writes that the next 11 to 138 code lengths are 0.
        mutating func zeros(_ number: Int) {
            code("0")
            write(number - 11, 7)
        }

        private mutating func add(_ bit: Int) {
            current |= UInt8(bit) << count
            count += 1
            guard count == 8 else { return }
            bytes.append(current)
            (current, count) = (0, 0)
        }

        mutating func finish() -> Data {
            while count != 0 { add(0) }
            return bytes
        }
    }
}
