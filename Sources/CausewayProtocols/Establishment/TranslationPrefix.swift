package import CausewayTypes
internal import CausewayWire

/// A NAT64 prefix: in an IPv6-only network, IPv4 hosts are reachable at addresses with this prefix (RFC 6052). The prefix can be discovered
/// with DNS (RFC 7050).
package struct TranslationPrefix: Hashable, Sendable {
    /// A name that has only IPv4 addresses. If an answer contains an IPv6 address, DNS64 has synthesized that address (RFC 7050 §3).
    package static let wellKnownName = "ipv4only.arpa"
    /// The IPv4 addresses of ``wellKnownName`` (RFC 7050 §8.2).
    private static let wellKnownAddresses: [UInt32] = [0xC000_00AA, 0xC000_00AB]
    /// The permitted prefix lengths in bits (RFC 6052 §2.2).
    package static let lengths = [32, 40, 48, 56, 64, 96]
    /// The prefix `64:ff9b::/96`, which is only for global IPv4 addresses (RFC 6052 §3.1).
    package static let wellKnown = TranslationPrefix(high: 0x0064_FF9B_0000_0000, low: 0, length: 96)

    package let high: UInt64
    package let low: UInt64
    /// The prefix length in bits.
    package let length: Int

    /// Creates a prefix, and clears the address bits after it.
    private init(high: UInt64, low: UInt64, length: Int) {
        self.high = length >= 64 ? high : high & ~(UInt64.max >> UInt64(length))
        self.low = length > 64 ? low & ~(UInt64.max >> UInt64(length - 64)) : 0
        self.length = length
    }

    /// - Returns: `nil` if the length is not permitted, or if bits 64 to 71 are not zero (RFC 6052 §2.2).
    package init?(_ address: IPv6Address, length: Int) {
        guard Self.lengths.contains(length), address.low >> 56 == 0 || length < 96 else { return nil }
        self.init(high: address.high, low: address.low, length: length)
    }

    /// Finds NAT64 prefixes in the AAAA answers for ``wellKnownName``, in answer order (RFC 7050 §3).
    ///
    /// An answer is used only if it contains a well-known address at exactly one position.
    package static func discovered(in answers: [IPv6Address]) -> [TranslationPrefix] {
        var result: [TranslationPrefix] = []
        for answer in answers {
            let fitting = lengths.compactMap { length -> TranslationPrefix? in
                guard let prefix = TranslationPrefix(answer, length: length),
                    let embedded = prefix.extract(from: answer), wellKnownAddresses.contains(embedded.bits)
                else { return nil }
                return prefix
            }
            if fitting.count == 1, !result.contains(fitting[0]) { result.append(fitting[0]) }
        }
        return result
    }

    /// Returns the IPv6 address for an IPv4 host (RFC 6052 §2.2); `nil` if the address must not be translated.
    package func synthesize(_ address: IPv4Address) -> IPv6Address? {
        guard Self.isTranslatable(address.bits), self != .wellKnown || Self.isGlobal(address.bits) else { return nil }
        let bits = UInt64(address.bits)
        guard length < 96 else { return IPv6Address(high: high, low: low | bits) }
        // The IPv4 address is placed around byte 8 of the IPv6 address, which stays zero. Its first `before` bits come
        // before byte 8, and its other bits come after it.
        let before = 64 - length
        let front = before >= 32 ? bits << UInt64(before - 32) : bits >> UInt64(32 - before)
        let restCount = max(0, 32 - before)
        let rest = restCount == 0 ? 0 : bits & (1 << UInt64(restCount) - 1)
        return IPv6Address(high: high | front, low: restCount == 0 ? 0 : rest << UInt64(56 - restCount))
    }

    /// Returns the IPv4 address that an IPv6 address with this prefix contains (RFC 6052 §2.3); `nil` for other addresses.
    package func extract(from address: IPv6Address) -> IPv4Address? {
        guard TranslationPrefix(high: address.high, low: address.low, length: length) == self,
            length == 96 || address.low >> 56 == 0
        else { return nil }
        guard length < 96 else { return IPv4Address(bits: UInt32(truncatingIfNeeded: address.low)) }
        let before = 64 - length
        let front = before >= 32 ? address.high >> UInt64(before - 32) : address.high << UInt64(32 - before)
        let restCount = max(0, 32 - before)
        let mask: UInt64 = restCount == 0 ? 0 : 1 << UInt64(restCount) - 1
        let rest = restCount == 0 ? 0 : address.low >> UInt64(56 - restCount) & mask
        return IPv4Address(bits: UInt32(truncatingIfNeeded: front & ~mask | rest))
    }

    // MARK: Translatable addresses

    /// Returns whether the address may be translated. This is not so for `0.0.0.0/8` and for loopback, link-local,
    /// multicast and reserved addresses.
    private static func isTranslatable(_ bits: UInt32) -> Bool {
        bits >> 24 != 0 && bits >> 24 != 127 && bits >> 16 != 0xA9FE && bits >> 28 < 14
    }

    /// Whether the address may use the well-known prefix. Private and shared addresses (RFC 1918, RFC 6598) must not
    /// use it (RFC 6052 §3.1).
    private static func isGlobal(_ bits: UInt32) -> Bool {
        bits >> 24 != 10 && bits >> 20 != 0xAC1 && bits >> 16 != 0xC0A8 && bits >> 22 != 0x191
    }
}
