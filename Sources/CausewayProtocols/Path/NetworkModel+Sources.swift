internal import CausewayTypes
package import CausewayWire

extension NetworkModel {
    /// Returns the source address that the kernel would select for a packet to `destination` on this route. Returns
    /// `nil` if the host has no usable address.
    package func source(
        for destination: InternetAddress, _ route: NetlinkRoute, _ hop: NetlinkRoute.NextHop
    ) -> InternetAddress? {
        if route.kind == .local { return route.preferredSource ?? destination.unscoped }
        if let preferred = route.preferredSource { return preferred }
        switch destination.family {
        case .ipv4: return ipv4Source(over: hop.interfaceIndex, toward: hop.gateway, scope: route.scope)
        case .ipv6: return ipv6Source(for: destination, over: hop.interfaceIndex)
        default: return nil
        }
    }

    /// Returns a source address for packets to the next hop. This is the interface's first address in the next hop's
    /// subnet, or else the interface's first address. If the interface has no address, this is an address from another
    /// interface.
    private func ipv4Source(
        over index: Int?, toward gateway: InternetAddress?, scope: NetlinkAddress.Scope
    ) -> InternetAddress? {
        // In each subnet, the kernel selects only the first IPv4 address. It marks the other addresses as secondary,
        // with the flag that means "temporary" for IPv6 addresses. Leave these addresses out.
        func reaches(_ address: NetlinkAddress) -> Bool {
            address.address.family == .ipv4 && !address.flags.contains(.temporary)
                && min(address.scope.rawValue, NetlinkAddress.Scope.link.rawValue) <= scope.rawValue
        }
        if let own = index.flatMap({ interface(index: $0) })?.addresses.filter(reaches), !own.isEmpty {
            let near = gateway.flatMap { gateway in
                own.first { gateway.isInside($0.peer ?? $0.address, length: $0.prefixLength) }
            }
            return (near ?? own.first)?.address
        }
        let others = interfaces.filter { $0.index != index }.flatMap(\.addresses)
        return others.first { reaches($0) && $0.scope != .link && $0.scope.rawValue <= scope.rawValue }?.address
    }

    /// Selects an IPv6 source address by the rules of RFC 6724 §5.
    private func ipv6Source(for destination: InternetAddress, over index: Int?) -> InternetAddress? {
        guard case .ipv6(let target) = destination.unscoped else { return nil }
        let isNear = target.isMulticast || target.isLinkLocal || target.isLoopback
        let candidates = interfaces.filter { !isNear || $0.index == index }.flatMap { interface in
            interface.addresses.map { (address: $0, isOutgoing: index == nil || interface.index == index) }
        }
        let scores = candidates.compactMap { candidate -> (score: [Int], address: InternetAddress)? in
            guard case .ipv6(let address) = candidate.address.address.unscoped, candidate.address.isUsable else {
                return nil
            }
            let score = SourceScore(address, candidate.address, candidate.isOutgoing, for: target)
            return (score.terms, candidate.address.address)
        }
        // Choose the best address. If several addresses have the same score, choose the first of them.
        var best: (score: [Int], address: InternetAddress)?
        for candidate in scores where best.map({ $0.score.lexicographicallyPrecedes(candidate.score) }) ?? true {
            best = candidate
        }
        return best?.address
    }
}

/// The score of a source address for a given destination (RFC 6724 §5). A score is a list of terms. When two scores are
/// compared, the first different term decides, and the greater value wins.
struct SourceScore {
    let terms: [Int]

    init(_ source: IPv6Address, _ assigned: NetlinkAddress, _ isOutgoing: Bool, for destination: IPv6Address) {
        let (own, its) = (source.reach, destination.reach)
        let common = min(source.commonPrefixLength(with: destination), assigned.prefixLength)
        terms = [
            source == destination ? 1 : 0,  // Rule 1: the destination itself
            own >= its ? -own : own - 128,  // Rule 2: the smallest scope that reaches the destination
            assigned.flags.isDisjoint(with: [.deprecated, .optimistic]) ? 1 : 0,  // Rule 3: no deprecated address
            isOutgoing ? 1 : 0,  // Rule 5: an address of the outgoing interface
            source.policyLabel == destination.policyLabel ? 1 : 0,  // Rule 6: equal labels
            // This reverses rule 7 of RFC 6724 §5. Unless it is configured otherwise, Linux prefers public addresses to
            // temporary addresses.
            assigned.flags.contains(.temporary) ? 0 : 1,
            common,  // Rule 8: the longest common prefix
        ]
    }
}

extension IPv6Address {
    /// The scope of the address as a number, on the same scale as multicast scopes (RFC 6724 §3.1).
    fileprivate var reach: Int {
        if isMulticast { return Int(high >> 48 & 0xF) }
        if isLinkLocal || isLoopback { return 2 }
        return high >> 54 == 0xFEC0 >> 6 ? 5 : 14
    }

    /// The label in the kernel's policy table (ip-addrlabel(8)). The table in RFC 6724 §2.1 has other numbers.
    fileprivate var policyLabel: Int {
        if isLoopback { return 0 }
        if isIPv4Mapped { return 4 }
        if high == 0, low >> 32 == 0 { return 3 }
        switch high >> 32 {
        case 0x2001_0000: return 6
        case 0x2001_0010...0x2001_001F: return 7
        default: break
        }
        if is6to4 { return 2 }
        return isUniqueLocal ? 5 : 1
    }

    fileprivate func commonPrefixLength(with other: IPv6Address) -> Int {
        let first = (high ^ other.high).leadingZeroBitCount
        return first < 64 ? first : 64 + (low ^ other.low).leadingZeroBitCount
    }
}
