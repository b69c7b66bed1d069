internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Which of this host's interfaces a group may use, and what it must know of them.
struct GroupInterfaces: Sendable {
    /// Those that groups are joined on.
    var candidates: [GroupMembership.Candidate] = []
    /// Those that the program permits, whether or not they can carry groups; `nil` when it permits all.
    var permitted: Set<Int>?
    /// The IPv4 address to send from on interfaces where the kernel would choose that of another one.
    var sources: [Int: SocketAddress] = [:]

    init() {}

    init(_ snapshot: NetworkSnapshot, for settings: SocketSettings) {
        let allowed = snapshot.interfaces.filter { settings.permits($0) }
        permitted =
            settings.restrictsInterfaces || settings.localHost != nil ? Set(allowed.map(\.interface.index)) : nil
        // Without a word about it nobody wants loopback, which carries no group of another host.
        let wantsLoopback =
            settings.requiredInterface != nil || settings.requiredInterfaceType == .loopback
            || settings.localHost != nil
        for interface in allowed where interface.isUp {
            guard interface.isLoopback ? wantsLoopback : interface.isRunning && interface.supportsMulticast else {
                continue
            }
            let families = Set(interface.addresses.filter(\.isUsable).map(\.address.family))
            candidates.append(GroupMembership.Candidate(index: interface.interface.index, families: families))
            // Addresses of loopback have host scope: the kernel never chooses one for a group (RFC 1122 §3.3.4.3).
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
        // By name: an interface that was taken away and made again has another index.
        return !prohibitedInterfaces.contains { $0.name == interface.interface.name }
            && !prohibitedInterfaceTypes.contains(interface.interface.type)
            && (requiredInterfaceType.map { $0 == interface.interface.type } ?? true)
    }

    fileprivate var restrictsInterfaces: Bool {
        requiredInterface != nil || requiredInterfaceType != nil || !prohibitedInterfaces.isEmpty
            || !prohibitedInterfaceTypes.isEmpty
    }

    /// The local address that the program asks for, unless that is every address.
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
    /// The group that this address names, for deciding where it is joined.
    var group: InternetAddress? {
        switch self {
        case .ipv4(let bits, _): .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, let scope):
            // Only its index counts: an interface that has gone must not make this a group of all interfaces.
            .ipv6(
                IPv6Address(
                    high: high, low: low,
                    interface: scope == 0 ? nil : NWInterface(name: "", index: Int(scope), type: .other)))
        case .unix: nil
        }
    }
}
