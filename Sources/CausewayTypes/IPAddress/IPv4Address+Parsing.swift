extension IPv4Address {
    /// Parses a numeric IPv4 literal, such as `192.0.2.1` or `169.254.8.8%eth0`.
    ///
    /// Accepts the same formats as `getaddrinfo` with `AI_NUMERICHOST`: one to four parts separated by dots. The last part fills all
    /// remaining bytes (`127.1`, `2130706433`). Each part is decimal, octal with a leading `0`, or hexadecimal with a leading `0x`, so
    /// `010.0.0.1` is `8.0.0.1`. Do not use this to predict how other software interprets untrusted text.
    ///
    /// - Returns: `nil` for any other text, and if the interface does not exist.
    public init?(_ string: String) {
        self.init(ScopedLiteral(string))
    }

    init?(_ literal: ScopedLiteral) {
        // An IPv4 scope must be an interface name. Only IPv6 allows an index as scope (RFC 4007 §11.2).
        guard literal.unresolvedScope == nil, let bits = Self.parseLoosely(literal.address.utf8) else { return nil }
        self.init(bits: bits, interface: literal.interface)
    }

    /// Parses one to four parts, each of which is decimal, octal or hexadecimal.
    private static func parseLoosely(_ text: Substring.UTF8View) -> UInt32? {
        var rest = text
        var bits: UInt32 = 0
        for position in 0..<4 {
            guard let part = parsePart(&rest) else { return nil }
            guard let separator = rest.popFirst() else {
                let remainingBits = UInt32(32 - 8 * position)
                guard remainingBits == 32 || part < 1 << remainingBits else { return nil }
                return bits | part
            }
            guard separator == UInt8(ascii: "."), position < 3, part <= 0xff else { return nil }
            bits |= part << UInt32(24 - 8 * position)
        }
        return nil
    }

    /// Parses one part at the start of `text` and removes it. Returns `nil` if the part has no digits or a digit that
    /// is invalid in its base, or if its value exceeds 32 bits.
    private static func parsePart(_ text: inout Substring.UTF8View) -> UInt32? {
        var base: UInt32 = 10
        var digitCount = 0
        if text.first == UInt8(ascii: "0") {
            text.removeFirst()
            if text.first.map({ $0 | 0x20 }) == UInt8(ascii: "x") {
                text.removeFirst()
                base = 16
            } else {
                base = 8
                digitCount = 1
            }
        }
        var value: UInt32 = 0
        while let digit = text.first.flatMap(hexadecimalValue(of:)) {
            guard digit < base else { return nil }
            let (scaled, overflowed) = value.multipliedReportingOverflow(by: base)
            let (sum, carried) = scaled.addingReportingOverflow(digit)
            guard !overflowed, !carried else { return nil }
            value = sum
            digitCount += 1
            text.removeFirst()
        }
        return digitCount > 0 ? value : nil
    }

    /// Parses four decimal parts without leading zeros, as they occur in an IPv6 literal (RFC 4291 §2.2).
    static func parseStrictly(_ text: Substring.UTF8View) -> UInt32? {
        var bits: UInt32 = 0
        var value: UInt32 = 0
        var digitCount = 0
        var dotCount = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard digitCount == 0 || value != 0 else { return nil }
                value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
                digitCount += 1
                guard value <= 0xff else { return nil }
            case UInt8(ascii: "."):
                guard digitCount > 0, dotCount < 3 else { return nil }
                bits = bits << 8 | value
                value = 0
                digitCount = 0
                dotCount += 1
            default:
                return nil
            }
        }
        return digitCount > 0 && dotCount == 3 ? bits << 8 | value : nil
    }
}

/// Returns the value of an ASCII hexadecimal digit in either case, or `nil`.
func hexadecimalValue(of byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
}
