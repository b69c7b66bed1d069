internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// This host's interfaces for a group, with source addresses for the group's messages.
struct GroupInterfaces: Sendable {
    /// The interfaces on which groups are joined.
    var candidates: [GroupMembership.Candidate] = []
    /// Indices of permitted interfaces, including interfaces without multicast. `nil` if all interfaces are permitted.
    var permitted: Set<Int>?
    /// The IPv4 source addresses for the group's messages, by interface index.
    ///
    /// An interface has an entry if the program requires a source address. The loopback interface also has one, because
    /// the kernel does not select its address.
    var sources: [Int: SocketAddress] = [:]
    /// The network model, which includes information from network managers. `nil` if the settings exclude no
    /// interfaces.
    let model: NetworkModel?

    /// Selects the interfaces on which groups are joined.
    ///
    /// - Parameters:
    ///   - snapshot: The interfaces.
    ///   - model: The network model, which contains whether an interface is metered, constrained or cellular. `nil` if
    ///     the settings exclude no interfaces, or if the model is unknown. If it is unknown, settings that exclude
    ///     interfaces permit none.
    init(_ snapshot: NetworkSnapshot, _ model: NetworkModel? = nil, for settings: SocketSettings) {
        self.model = model
        var constraints = settings.pathConstraints
        let isRestricted =
            settings.requiredInterface != nil || settings.localHost != nil || constraints.excludesInterfaces
        // `settings.permits(_:)` already compares the interfaces by name. So clear these interface lists.
        (constraints.requiredInterface, constraints.prohibitedInterfaces) = (nil, [])
        let allowed = snapshot.interfaces.filter { settings.permits($0) && constraints.permits($0, in: model) }
        permitted = isRestricted ? Set(allowed.map(\.interface.index)) : nil
        // Use the loopback interface only if the settings require it, by interface, by type or by local address.
        // Without such a setting it is useless: it does not carry multicast from other hosts.
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
    }

    /// The local address that the program requires. `nil` if it requires none, or the wildcard address.
    var localHost: SocketAddress? { localAddress.flatMap { $0.isWildcard ? nil : $0 } }
}

extension PathConstraints {
    /// Returns whether the constraints permit an interface. An interface that the network model does not contain yet is
    /// not permitted.
    fileprivate func permits(_ interface: NetworkSnapshot.Interface, in model: NetworkModel?) -> Bool {
        guard excludesInterfaces else { return true }
        guard let known = model?.interface(index: interface.interface.index),
            known.interface.name == interface.interface.name
        else { return false }
        return permits(known)
    }
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
            // Identify the interface by its index only, without a lookup. If the interface no longer exists, a lookup
            // would return no interface. The group would then be joined on all interfaces.
            .ipv6(
                IPv6Address(
                    high: high, low: low,
                    interface: scope == 0 ? nil : NWInterface(name: "", index: Int(scope), type: .other)))
        case .unix: nil
        }
    }
}
