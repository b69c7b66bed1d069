package import CausewayTypes

/// A NAT64 prefix from a router advertisement (RFC 8781), as the kernel reports it (`RTM_NEWNDUSEROPT`).
package struct NetlinkTranslatorPrefix: Equatable, Sendable {
    /// The index of the interface that received the advertisement.
    package var interfaceIndex: Int
    package var prefix: IPv6Address
    /// Prefix length in bits.
    package var length: Int
    /// Lifetime in seconds; 0 means that the router withdraws the prefix.
    package var lifetime: Int

    /// The `struct nduseroptmsg` size in bytes.
    private static let headByteCount = 16
    private static let routerAdvertisement: UInt8 = 134
    private static let option: UInt8 = 38
    /// The prefix length in bits for each Prefix Length Code (RFC 8781 §4).
    private static let lengths = [96, 64, 56, 48, 40, 32]

    package init(interfaceIndex: Int, prefix: IPv6Address, length: Int, lifetime: Int) {
        self.interfaceIndex = interfaceIndex
        self.prefix = prefix
        self.length = length
        self.lifetime = lifetime
    }

    /// Parses `struct nduseroptmsg` and the options after it.
    ///
    /// ```
    ///  0        7 8       15 16        23 24       31
    /// +----------+----------+-----------------------+
    /// |  family  |  zero    |   bytes of options    |
    /// +----------+----------+-----------------------+
    /// |               interface index               |
    /// +----------+----------+-----------------------+
    /// | ICMP type| ICMP code|  six bytes of zero, then the options
    /// +----------+----------+-----------------------+
    /// ```
    ///
    /// - Returns: `nil` if there is no valid PREF64 option (RFC 8781).
    init?(parsing body: inout ByteReader) throws(WireError) {
        var head = try body.readScope(Self.headByteCount)
        let family = InternetAddress.Family(rawValue: try head.readHostInteger() as UInt8)
        _ = try head.readHostInteger() as UInt8
        let length: UInt16 = try head.readHostInteger()
        let index: Int32 = try head.readHostInteger()
        let type: UInt8 = try head.readHostInteger()
        guard family == .ipv6, type == Self.routerAdvertisement, index > 0 else { return nil }
        var options = try body.readScope(Int(length))
        while !options.isAtEnd {
            let start = options.position
            let (type, units): (UInt8, UInt8) = (try options.readInteger(), try options.readInteger())
            guard units > 0 else { throw .invalid("option length", at: start) }
            var content = try options.readScope(Int(units) * 8 - 2)
            guard type == Self.option, units == 2 else { continue }
            let scaled: UInt16 = try content.readInteger()
            guard Int(scaled & 7) < Self.lengths.count else { continue }
            let (high, middle): (UInt64, UInt32) = (try content.readInteger(), try content.readInteger())
            self.init(
                interfaceIndex: Int(index), prefix: IPv6Address(high: high, low: UInt64(middle) << 32),
                length: Self.lengths[Int(scaled & 7)], lifetime: Int(scaled & ~7))
            return
        }
        return nil
    }
}
