internal import CausewayTypes

/// An address prefix. Routes and rules apply to the addresses that match their prefix.
package struct NetlinkPrefix: Hashable, Sendable {
    package var address: InternetAddress
    /// The length in bits.
    package var length: Int

    package init(_ address: InternetAddress, length: Int) {
        self.address = address
        self.length = length
    }

    /// The prefix that contains all addresses of a family.
    package static func all(_ family: InternetAddress.Family) -> NetlinkPrefix {
        let address: InternetAddress =
            family == .ipv4 ? .ipv4(IPv4Address(bits: 0)) : .ipv6(IPv6Address(high: 0, low: 0))
        return NetlinkPrefix(address, length: 0)
    }

    package func contains(_ other: InternetAddress) -> Bool { other.isInside(address, length: length) }
}
