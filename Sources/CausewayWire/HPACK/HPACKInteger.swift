/// Codes integers with a 1- to 8-bit prefix (RFC 7541 §5.1).
///
/// A value that fits in the prefix takes one byte. For a larger value, the prefix is all ones. The remainder follows in
/// 7-bit groups, one per byte, least significant first.
enum HPACKInteger {
    /// The largest integer to accept. Valid lengths, indices and table sizes are far smaller. Integers up to this value
    /// cannot cause an overflow in computations (RFC 7541 §7.4).
    static let maximum = 1 << 28

    /// Appends an integer.
    ///
    /// - Parameters:
    ///   - prefix: The number of the integer's bits in the first byte, from 1 to 8.
    ///   - pattern: The other bits in the first byte. The prefix bits are zero.
    static func append(_ value: Int, prefix: UInt8, pattern: UInt8, to bytes: inout [UInt8]) {
        let limit = 1 << Int(prefix) - 1
        guard value >= limit else { return bytes.append(pattern | UInt8(truncatingIfNeeded: max(0, value))) }
        bytes.append(pattern | UInt8(truncatingIfNeeded: limit))
        var rest = value - limit
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Reads an integer at `offset`, and advances `offset` past it.
    ///
    /// - Throws: ``WireError``: `truncated` if the block ends inside the integer; `invalid` if the value exceeds
    ///   ``maximum``, or if the encoding is longer than any valid value needs.
    static func read(_ bytes: Span<UInt8>, at offset: inout Int, prefix: UInt8) throws(WireError) -> Int {
        let start = offset
        guard offset < bytes.count else { throw .truncated(needed: 1, available: 0, at: offset) }
        let limit = 1 << Int(prefix) - 1
        var value = Int(bytes[offset]) & limit
        offset += 1
        guard value == limit else { return value }
        var shift = 0
        while true {
            guard offset < bytes.count else { throw .truncated(needed: 1, available: 0, at: offset) }
            let byte = bytes[offset]
            offset += 1
            // Five bytes hold 35 bits, which is enough. Further bytes could only add zero bits, and would waste the
            // receiver's time.
            guard shift <= 28 else { throw .invalid("integer", at: start) }
            value += Int(byte & 0x7F) << shift
            guard value <= maximum else { throw .invalid("integer", at: start) }
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }
}
