import Foundation

/// Creates gzip content (RFC 1952) that expands to zeros. It uses the highest ratio that deflate (RFC 1951) permits:
/// one byte expands to 1,032 bytes.
enum GzipBomb {
    /// Returns gzip content whose checksum is wrong. A reader should refuse the content long before it reaches the
    /// checksum.
    static func make(megabytes: Int) -> Data {
        var bits = BitWriter()
        // The last DEFLATE block, with dynamic codes. It has 286 codes for literals and lengths, 1 for distances, and
        // 18 for the code lengths.
        bits.write(1, 1)
        bits.write(2, 2)
        bits.write(29, 5)
        bits.write(0, 5)
        bits.write(14, 4)
        // The code lengths for the symbols 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1. Symbol 18 gets
        // the code "0", symbol 1 "10", and symbol 2 "11".
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.write(length, 3) }
        // Literal 0 has a code of two bits, the end of the block (256) two, and length 258 (285) one. The only
        // distance, 1, has a code of one bit.
        bits.code("11")
        bits.zeros(138)
        bits.zeros(117)
        bits.code("11")
        bits.zeros(28)
        bits.code("10")
        bits.code("10")
        // Write the compressed content: one zero byte, many copies of 258 bytes with two bits each, and the end code.
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

        /// Writes the code for `number` code lengths of 0, where `number` is 11 to 138.
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
