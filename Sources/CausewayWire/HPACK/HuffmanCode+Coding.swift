extension HuffmanCode {
    /// Returns the encoded size of `bytes` in bytes.
    func encodedCount(_ bytes: Span<UInt8>) -> Int {
        let lengths = lengths.span
        var bits = 0
        for index in bytes.indices { bits += Int(lengths[Int(bytes[index])]) }
        return (bits + 7) / 8
    }

    /// Appends the encoded form of `bytes`, padded with ones to a whole byte.
    func encode(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        let codes = codes.span
        let lengths = lengths.span
        var pending: UInt64 = 0
        var pendingBits = 0
        for index in bytes.indices {
            let symbol = Int(bytes[index])
            pending = pending << UInt64(lengths[symbol]) | UInt64(codes[symbol])
            pendingBits += Int(lengths[symbol])
            // 64 bits suffice, because at most 7 bits remain from the previous symbol, and a code has at most 30 bits.
            while pendingBits >= 8 {
                pendingBits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingBits)))
            }
        }
        guard pendingBits > 0 else { return }
        let padding = 8 - pendingBits
        output.append(UInt8(truncatingIfNeeded: pending << UInt64(padding) | (1 << UInt64(padding) - 1)))
    }

    /// Returns the maximum decoded size for `count` encoded bytes. The shortest codes have 5 bits.
    static func maximumDecodedCount(_ count: Int) -> Int { count * 8 / 5 }

    /// Decodes a part of a block into the start of `output`.
    ///
    /// - Parameters:
    ///   - range: The encoded range in `bytes`.
    ///   - output: At least ``maximumDecodedCount(_:)`` bytes.
    /// - Returns: The decoded byte count.
    /// - Throws: ``WireError`` if the padding has more than 7 bits or a zero bit, or the end symbol occurs (RFC 7541 §5.2).
    func decode(
        _ bytes: Span<UInt8>, _ range: Range<Int>, into output: inout MutableSpan<UInt8>
    ) throws(WireError) -> Int {
        let lookup = lookup.span
        let width = Self.lookupBits
        var position = range.lowerBound
        var pending: UInt64 = 0
        var bits = 0
        var count = 0
        while true {
            while bits <= 48, position < range.upperBound {
                pending = pending << 8 | UInt64(bytes[position])
                position += 1
                bits += 8
            }
            let entry = lookup[Int(Self.front(pending, bits, width: width))]
            var length = Int(entry & 0xF)
            var symbol = Int(entry >> 4)
            if length == 0 { (symbol, length) = longCode(Self.front(pending, bits, width: Self.maximumLength)) }
            // The code is longer than the remaining bits, so the remaining bits can only be padding. The code below
            // checks the padding.
            guard length <= bits else { break }
            guard symbol != Self.endSymbol, count < output.count else {
                throw .invalid("Huffman code", at: position - 1)
            }
            output[count] = UInt8(truncatingIfNeeded: symbol)
            count += 1
            bits -= length
        }
        let ones: UInt64 = 1 << UInt64(bits) - 1
        guard bits < 8, pending & ones == ones else { throw .invalid("padding of a Huffman code", at: position - 1) }
        return count
    }

    /// Returns the next `width` bits of `pending`.
    ///
    /// If fewer bits are left, the missing bits at the end are ones.
    @inline(__always)
    private static func front(_ pending: UInt64, _ bits: Int, width: Int) -> UInt64 {
        let mask: UInt64 = 1 << UInt64(width) - 1
        if bits >= width { return pending >> UInt64(bits - width) & mask }
        let missing = UInt64(width - bits)
        return (pending << missing | (1 << missing - 1)) & mask
    }

    /// Returns the symbol and the length for a code outside the lookup table.
    private func longCode(_ front: UInt64) -> (symbol: Int, length: Int) {
        for length in (Self.lookupBits + 1)...Self.maximumLength {
            let code = UInt32(truncatingIfNeeded: front >> UInt64(Self.maximumLength - length))
            guard code >= firstCodes[length] else { continue }
            let distance = Int(code - firstCodes[length])
            if distance < counts[length] { return (Int(ordered[firstPositions[length] + distance]), length) }
        }
        return (Self.endSymbol, Self.maximumLength)
    }
}
