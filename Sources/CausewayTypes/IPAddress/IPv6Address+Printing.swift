extension IPv6Address {
    /// The canonical text format (RFC 5952 §4), followed by `%` and the interface name if there is one.
    ///
    /// IPv4-mapped and IPv4-compatible addresses end in dotted decimal notation (RFC 5952 §5).
    public var debugDescription: String {
        guard let interface else { return unscopedDescription }
        return "\(unscopedDescription)%\(interface.name)"
    }

    private var unscopedDescription: String {
        if isIPv4Mapped { return "::ffff:\(embeddedQuad)" }
        // An address such as `::1234` is probably no IPv4-compatible address, because only its last group is not zero.
        // So print this group in hexadecimal.
        if isIPv4Compatabile, low > 0xffff { return "::\(embeddedQuad)" }

        let zeros = longestRunOfZeros
        var text = ""
        text.reserveCapacity(39)
        var position = 0
        while position < 8 {
            if position == zeros.lowerBound, !zeros.isEmpty {
                text += "::"
                position = zeros.upperBound
                continue
            }
            if position > 0, position != zeros.upperBound || zeros.isEmpty { text += ":" }
            text += String(group(at: position), radix: 16)
            position += 1
        }
        return text
    }

    private var embeddedQuad: String { IPv4Address(bits: UInt32(truncatingIfNeeded: low)).debugDescription }

    /// Returns one of the eight 16-bit groups. `position` 0 is the leftmost group.
    private func group(at position: Int) -> UInt16 {
        let half = position < 4 ? high : low
        return UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * (position & 3)))
    }

    /// The groups to shorten to `::`: the longest run of at least two zero groups; the first one if several runs are equally long (RFC 5952
    /// §4.2).
    private var longestRunOfZeros: Range<Int> {
        var longest = 0..<0
        var start = 0
        for position in 0..<8 {
            if group(at: position) != 0 {
                start = position + 1
            } else if position + 1 - start > longest.count {
                longest = start..<position + 1
            }
        }
        return longest.count >= 2 ? longest : 0..<0
    }
}
