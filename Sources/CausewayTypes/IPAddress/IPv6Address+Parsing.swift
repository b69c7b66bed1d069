extension IPv6Address {
    /// Parses an IPv6 literal, such as `2001:db8::5`, `::ffff:192.0.2.1`, `fe80::1%eth0` or `fe80::1%2`.
    ///
    /// Accepts the formats of RFC 4291 §2.2. The scope after `%` is the name or index of an interface (RFC 4007 §11.2) and is allowed for
    /// any address.
    ///
    /// - Returns: `nil` for any other text, including brackets and prefixes, and if the interface does not exist.
    public init?(_ string: String) {
        self.init(ScopedLiteral(string))
    }

    init?(_ literal: ScopedLiteral) {
        var interface = literal.interface
        guard let (high, low) = Self.parse(literal.address.utf8) else { return nil }
        if let scope = literal.unresolvedScope {
            guard let found = Self.interface(numbered: scope.utf8) else { return nil }
            interface = found
        }
        self.init(high: high, low: low, interface: interface)
    }

    private static func interface(numbered text: Substring.UTF8View) -> NWInterface? {
        var index = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            index = index * 10 + Int(byte - UInt8(ascii: "0"))
            guard index <= Int32.max else { return nil }
        }
        return NWInterface(index: index)
    }

    /// Parses the address without its scope (RFC 4291 §2.2).
    private static func parse(_ text: Substring.UTF8View) -> (high: UInt64, low: UInt64)? {
        var groups = GroupAccumulator()
        var rest = text
        if rest.first == UInt8(ascii: ":") {
            rest.removeFirst()
            guard rest.first == UInt8(ascii: ":") else { return nil }
        }
        while !rest.isEmpty {
            if rest.first == UInt8(ascii: ":") {
                // This is the second colon of `::`. The first colon was read earlier: before the loop, or together with
                // the previous group.
                rest.removeFirst()
                guard groups.skip() else { return nil }
                continue
            }
            let start = rest
            guard let group = parseGroup(&rest) else { return nil }
            switch rest.popFirst() {
            case nil:
                guard groups.append(group) else { return nil }
            case UInt8(ascii: ":"):
                guard !rest.isEmpty, groups.append(group) else { return nil }
            case UInt8(ascii: "."):
                guard let quad = IPv4Address.parseStrictly(start), groups.append(UInt16(quad >> 16)),
                    groups.append(UInt16(truncatingIfNeeded: quad))
                else { return nil }
                rest = rest[rest.endIndex...]
            default:
                return nil
            }
        }
        return groups.finish()
    }

    /// Parses one to four hexadecimal digits at the start of `text` and removes them. Returns `nil` if there are no
    /// digits or more than four.
    private static func parseGroup(_ text: inout Substring.UTF8View) -> UInt16? {
        var value: UInt32 = 0
        var digitCount = 0
        while let digit = text.first.flatMap(hexadecimalValue(of:)) {
            guard digitCount < 4 else { return nil }
            value = value << 4 | digit
            digitCount += 1
            text.removeFirst()
        }
        return digitCount > 0 ? UInt16(value) : nil
    }

    /// Collects an IPv6 address's 16-bit groups from left to right, and inserts zeros at the position of `::`.
    private struct GroupAccumulator {
        private var high: UInt64 = 0
        private var low: UInt64 = 0
        private var count = 0
        private var gap: Int?

        /// Adds the next group to the address. Returns `false` if the address already has eight groups.
        mutating func append(_ group: UInt16) -> Bool {
            guard count < 8 else { return false }
            high = high << 16 | low >> 48
            low = low << 16 | UInt64(group)
            count += 1
            return true
        }

        /// Records a `::` at this position. Returns `false` if there is already one.
        mutating func skip() -> Bool {
            guard gap == nil else { return false }
            gap = count
            return true
        }

        func finish() -> (high: UInt64, low: UInt64)? {
            guard let gap else { return count == 8 ? (high, low) : nil }
            // "::" stands for at least one group of zeros (RFC 4291 §2.2).
            guard count < 8 else { return nil }
            // All groups are now at the right end of the 128 bits. Move the groups that precede the `::` to the left
            // end.
            let groups = UInt128(high) << 64 | UInt128(low)
            let after = UInt128(16 * (count - gap))
            let tail = groups & ((1 << after) - 1)
            let head = gap == 0 ? 0 : (groups >> after) << UInt128(128 - 16 * gap)
            return (UInt64(truncatingIfNeeded: (head | tail) >> 64), UInt64(truncatingIfNeeded: head | tail))
        }
    }
}
