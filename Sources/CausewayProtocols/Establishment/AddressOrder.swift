internal import CausewayTypes
package import CausewayWire

/// A destination address, and the source address and route that this host would use.
package struct Destination: Hashable, Sendable {
    /// The source address for packets to the destination.
    package struct Source: Hashable, Sendable {
        package var address: InternetAddress
        /// The subnet prefix length in bits.
        package var prefixLength: Int
        /// Whether the address's preferred lifetime has expired (RFC 4862 §5.5.4).
        package var isDeprecated: Bool
        /// Whether packets leave through a tunnel.
        package var isTunnelled: Bool

        package init(
            _ address: InternetAddress, prefixLength: Int, isDeprecated: Bool = false, isTunnelled: Bool = false
        ) {
            self.address = address
            self.prefixLength = prefixLength
            self.isDeprecated = isDeprecated
            self.isTunnelled = isTunnelled
        }
    }

    package var address: InternetAddress
    /// The source address for the destination; `nil` if there is no route.
    package var source: Source?

    package init(_ address: InternetAddress, source: Source?) {
        self.address = address
        self.source = source
    }
}

/// Rules for destination address selection (RFC 6724 §6).
package enum AddressOrder {
    /// A selection rule. The raw value is its number in RFC 6724 §6.
    package enum Rule: Int, Sendable {
        case unusable = 1
        case scope, deprecated, home, label, precedence, native, smallerScope, longestPrefix, order
    }

    /// Returns the indices of the destinations, sorted by preference. If no rule prefers one of two destinations, they
    /// keep their order.
    package static func sorted(_ destinations: [Destination]) -> [Int] {
        guard destinations.count > 1 else { return Array(destinations.indices) }
        let candidates = destinations.map(Candidate.init)
        return destinations.indices.sorted { one, other in
            let verdict = compare(candidates[one], candidates[other])
            return verdict.order == 0 ? one < other : verdict.order < 0
        }
    }

    /// Compares two destinations by the address selection rules. Returns the deciding rule, and a negative `order` if
    /// the first destination is preferred.
    package static func decide(_ one: Destination, _ other: Destination) -> (rule: Rule, order: Int) {
        compare(Candidate(one), Candidate(other))
    }

    /// A destination with precomputed inputs for the rules.
    struct Candidate {
        var destination: Destination
        var scope: UInt8
        var policy: AddressPolicy
        var matchesScope: Bool
        var matchesLabel: Bool
        var commonPrefix: Int

        init(_ destination: Destination) {
            self.destination = destination
            scope = destination.address.scopeValue
            policy = AddressPolicy(destination.address)
            let source = destination.source
            matchesScope = source?.address.scopeValue == scope
            let label = policy.label
            matchesLabel = source.map { AddressPolicy($0.address).label == label } ?? false
            commonPrefix = source.map { destination.address.commonPrefix(with: $0) } ?? 0
        }
    }

    private static func compare(_ one: Candidate, _ other: Candidate) -> (rule: Rule, order: Int) {
        func prefer(_ rule: Rule, _ first: Bool, _ second: Bool) -> (rule: Rule, order: Int)? {
            first == second ? nil : (rule, first ? -1 : 1)
        }
        let (mine, its) = (one.destination.source, other.destination.source)
        // Rule 4 is left out. It concerns mobile hosts away from their home network, and Linux does not report this
        // state.
        if let verdict = prefer(.unusable, mine != nil, its != nil)
            ?? prefer(.scope, one.matchesScope, other.matchesScope)
            ?? prefer(.deprecated, mine?.isDeprecated == false, its?.isDeprecated == false)
            ?? prefer(.label, one.matchesLabel, other.matchesLabel)
        {
            return verdict
        }
        if one.policy.precedence != other.policy.precedence {
            return (.precedence, Int(other.policy.precedence) - Int(one.policy.precedence))
        }
        if let verdict = prefer(.native, mine?.isTunnelled == false, its?.isTunnelled == false) { return verdict }
        if one.scope != other.scope { return (.smallerScope, Int(one.scope) - Int(other.scope)) }
        if one.destination.address.family == other.destination.address.family, one.commonPrefix != other.commonPrefix {
            return (.longestPrefix, other.commonPrefix - one.commonPrefix)
        }
        return (.order, 0)
    }
}

/// An address's precedence and label in the default policy table (RFC 6724 §2.1).
struct AddressPolicy {
    var precedence: UInt8
    var label: UInt8

    private static let table: [(prefix: IPv6Address, length: Int, precedence: UInt8, label: UInt8)] = [
        (IPv6Address(high: 0, low: 1), 128, 50, 0),
        (IPv6Address(high: 0, low: 0xFFFF_0000_0000), 96, 35, 4),
        (IPv6Address(high: 0, low: 0), 96, 1, 3),
        (IPv6Address(high: 0x2001_0000 << 32, low: 0), 32, 5, 5),
        (IPv6Address(high: 0x2002 << 48, low: 0), 16, 30, 2),
        (IPv6Address(high: 0x3FFE << 48, low: 0), 16, 1, 12),
        (IPv6Address(high: 0xFEC0 << 48, low: 0), 10, 1, 11),
        (IPv6Address(high: 0xFC00 << 48, low: 0), 7, 3, 13),
    ]

    init(_ address: InternetAddress) {
        let mapped = InternetAddress.ipv6(address.mapped)
        let row = Self.table.first { mapped.isInside(.ipv6($0.prefix), length: $0.length) }
        precedence = row?.precedence ?? 40
        label = row?.label ?? 1
    }
}

extension InternetAddress {
    /// The address as IPv6; IPv4 addresses are mapped (RFC 4291 §2.5.5.2).
    fileprivate var mapped: IPv6Address {
        switch self {
        case .ipv4(let address): IPv6Address(high: 0, low: 0xFFFF_0000_0000 | UInt64(address.bits))
        case .ipv6(let address): address
        }
    }

    /// The address scope, numbered like multicast scopes (RFC 6724 §3.1, §3.2).
    fileprivate var scopeValue: UInt8 {
        switch self {
        case .ipv4(let address): address.bits >> 24 == 127 || address.isLinkLocal ? 2 : 14
        case .ipv6(let address) where address.isMulticast: UInt8(address.high >> 48 & 0xF)
        case .ipv6(let address) where address.isLoopback || address.isLinkLocal: 2
        case .ipv6(let address): address.high >> 54 == 0xFEC0 >> 6 ? 5 : 14
        }
    }

    /// Counts the leading bits shared by the destination and source addresses, up to the source's prefix length
    /// (RFC 6724 §2.2).
    ///
    /// For IPv4 the result is 0 if the destination is outside the source's subnet. Outside the subnet, equal leading bits do not mean that
    /// an address is near, and a preference by these bits would prevent load distribution by round-robin DNS.
    fileprivate func commonPrefix(with source: Destination.Source) -> Int {
        switch (self, source.address) {
        case (.ipv6(let one), .ipv6(let other)):
            let high = (one.high ^ other.high).leadingZeroBitCount
            return min(high < 64 ? high : 64 + (one.low ^ other.low).leadingZeroBitCount, source.prefixLength)
        case (.ipv4(let one), .ipv4(let other)):
            let common = (one.bits ^ other.bits).leadingZeroBitCount
            return common >= source.prefixLength && source.prefixLength > 0 ? common : 0
        case (.ipv4, .ipv6), (.ipv6, .ipv4): return 0
        }
    }
}
