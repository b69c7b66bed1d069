internal import CausewaySystem
internal import CausewayTypes

extension SocketSettings {
    /// Refuses an address that the system reaches over an interface that the program excluded.
    func checkInterface(toward address: SocketAddress) throws(SystemError) {
        guard restrictsInterfaces, address.family != .unix else { return }
        // Connecting a datagram socket asks for the route and sends nothing.
        let probe = try Socket.open(address.family, .datagram)
        if let requiredInterface { try Socket.bindToInterface(named: requiredInterface.name, probe.rawValue) }
        _ = try Socket.connect(probe.rawValue, to: address)
        guard let interface = Socket.localAddress(probe.rawValue)?.interface, permits(interface) else {
            throw SystemError(errno: Errno.networkDown, call: "connect")
        }
    }

    private var restrictsInterfaces: Bool {
        !prohibitedInterfaces.isEmpty || !prohibitedInterfaceTypes.isEmpty || requiredInterfaceType != nil
    }

    private func permits(_ interface: NWInterface) -> Bool {
        !prohibitedInterfaces.contains { $0.index == interface.index }
            && !prohibitedInterfaceTypes.contains(interface.type)
            && (requiredInterfaceType.map { $0 == interface.type } ?? true)
    }
}

extension SocketAddress {
    /// The interface that holds this local address.
    fileprivate var interface: NWInterface? {
        switch self {
        case .ipv4(let bits, _): NetworkPathFacts.interface(holding: IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, 0): NetworkPathFacts.interface(holding: IPv6Address(high: high, low: low))
        case .ipv6(_, _, _, let scope): NWInterface(index: Int(scope))
        case .unix: nil
        }
    }
}
