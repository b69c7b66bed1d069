internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// This host's interfaces for a group, with source addresses for the group's messages.
struct GroupInterfaces: Sendable {
    /// The interfaces on which groups are joined.
    var candidates: [GroupMembership.Candidate] = []
    /// Indices of permitted interfaces, including those without multicast; `nil` if all are permitted.
    var permitted: Set<Int>?
    /// IPv4 source addresses by interface index. An interface has an entry only if the kernel would select another
    /// source or if the program requires a source.
    var sources: [Int: SocketAddress] = [:]

    init(_ snapshot: NetworkSnapshot, for settings: SocketSettings) {
        let allowed = snapshot.interfaces.filter { settings.permits($0) }
        permitted =
            settings.restrictsInterfaces || settings.localHost != nil ? Set(allowed.map(\.interface.index)) : nil
        // Use loopback only on request, because it does not carry multicast from other hosts.
        let wantsLoopback =
            settings.requiredInterface != nil || settings.requiredInterfaceType == .loopback
            || settings.localHost != nil
        for interface in allowed where interface.isUp {
            guard interface.isLoopback ? wantsLoopback : interface.isRunning && interface.supportsMulticast else {
                continue
            }
            let families = Set(interface.addresses.filter(\.isUsable).map(\.address.family))
            candidates.append(GroupMembership.Candidate(index: interface.interface.index, families: families))
            // Loopback addresses have host scope, so the kernel never selects one as a multicast source (RFC 1122
            // §3.3.4.3).
            if interface.isLoopback, let source = interface.firstIPv4Address {
                sources[interface.interface.index] = source
            }
        }
        if case .ipv4 = settings.localHost {
            for candidate in candidates { sources[candidate.index] = settings.localHost }
        }
    }
}

extension SocketSettings {
    fileprivate func permits(_ interface: NetworkSnapshot.Interface) -> Bool {
        if let requiredInterface, requiredInterface.name != interface.interface.name { return false }
        if let localHost, !interface.addresses.contains(where: { $0.isUsable && $0.address.isSameHost(as: localHost) })
        {
            return false
        }
        // Compare interfaces by name, because an interface that was removed and created again has another index.
        return !prohibitedInterfaces.contains { $0.name == interface.interface.name }
            && !prohibitedInterfaceTypes.contains(interface.interface.type)
            && (requiredInterfaceType.map { $0 == interface.interface.type } ?? true)
    }

    fileprivate var restrictsInterfaces: Bool {
        requiredInterface != nil || requiredInterfaceType != nil || !prohibitedInterfaces.isEmpty
            || !prohibitedInterfaceTypes.isEmpty
    }

    /// The local address required by the program; `nil` for the wildcard address.
    var localHost: SocketAddress? { localAddress.flatMap { $0.isWildcard ? nil : $0 } }
}

extension NetworkSnapshot.Interface {
    fileprivate var firstIPv4Address: SocketAddress? {
        for address in addresses {
            if case .ipv4(let address) = address.address { return SocketAddress(address, port: 0) }
        }
        return nil
    }
}

extension InternetAddress {
    fileprivate func isSameHost(as other: SocketAddress) -> Bool {
        switch self {
        case .ipv4(let address): SocketAddress(address, port: 0).isSameHost(as: other)
        case .ipv6(let address): SocketAddress(address, port: 0).isSameHost(as: other)
        }
    }
}

extension SocketAddress {
    /// The group's IP address. If the socket address has an IPv6 scope, the result names an interface, and the group is
    /// joined on that interface only.
    var group: InternetAddress? {
        switch self {
        case .ipv4(let bits, _): .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, let scope):
            // Identify the interface by its index alone. If the interface no longer exists, the group must not become a
            // group on all interfaces.
            .ipv6(
                IPv6Address(
                    high: high, low: low,
                    interface: scope == 0 ? nil : NWInterface(name: "", index: Int(scope), type: .other)))
        case .unix: nil
        }
    }
}
