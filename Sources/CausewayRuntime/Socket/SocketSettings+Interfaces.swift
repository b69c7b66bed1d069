package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension SocketSettings {
    /// The path constraints in these settings.
    package var pathConstraints: PathConstraints {
        var constraints = PathConstraints()
        constraints.requiredInterface = requiredInterface
        constraints.prohibitedInterfaces = prohibitedInterfaces
        constraints.requiredType = requiredInterfaceType
        constraints.prohibitedTypes = prohibitedInterfaceTypes
        constraints.prohibitsExpensive = prohibitsExpensive
        constraints.prohibitsConstrained = prohibitsConstrained
        // Exclude ultra-constrained interfaces only if this host has such interfaces. If it has none, the exclusion
        // would change nothing, but it would require a read of the network state.
        constraints.allowsUltraConstrained =
            allowsUltraConstrained || !InterfaceOverrides.current.hasUltraConstrained
        switch ip.version {
        case .any: break
        case .v4: constraints.family = .ipv4
        case .v6: constraints.family = .ipv6
        }
        constraints.localAddress = localAddress?.internetAddress
        constraints.transport = transport == .tcp ? 6 : 17
        return constraints
    }

    /// Returns the interfaces that can carry packets to an address, in order of preference, each with its source
    /// address.
    ///
    /// The result is empty if no interface can carry such packets, or if the settings exclude all such interfaces.
    func ways(toward address: SocketAddress, in model: NetworkModel) -> [PathWay] {
        guard let destination = address.internetAddress else { return [] }
        var constraints = pathConstraints
        constraints.port = address.port
        return model.ways(to: destination, constraints)
    }

    /// Whether the settings permit only some interfaces.
    var limitsInterfaces: Bool { requiredInterface != nil || pathConstraints.excludesInterfaces }

    /// Returns the index of the interface for datagrams of an unbound socket to an address: 0 for the kernel's choice,
    /// and `nil` if the settings exclude all interfaces that lead to the address.
    func interface(toward address: SocketAddress, in model: NetworkModel) -> Int? {
        // The ways compare prohibited interfaces by index. Compare them by name too, because an interface that was
        // removed and created again has another index.
        let best = ways(toward: address, in: model).first { way in
            !prohibitedInterfaces.contains { $0.name == way.interface.name }
        }
        return best.map { $0.isKernelChoice ? 0 : $0.interface.index }
    }

    /// Returns the interface to which the connection attempt's socket must be bound. Returns `nil` if the kernel may
    /// choose.
    ///
    /// If the settings exclude interfaces, this function reads the network state. Otherwise it uses the network state
    /// only if it is already monitored.
    ///
    /// - Throws: `ENETDOWN` if the settings exclude all suitable interfaces.
    func chooseInterface(toward address: SocketAddress) throws(SystemError) -> NWInterface? {
        guard address.family != .unix else { return nil }
        let mayFail = pathConstraints.excludesInterfaces
        guard mayFail || !address.isLoopback,
            let model = mayFail ? NetworkStateMonitor.shared.model : NetworkStateMonitor.shared.followed
        else { return nil }
        guard let best = ways(toward: address, in: model).first else {
            // No interface is known to reach the address. If the settings exclude no interface, return without an
            // error: the kernel reports the cause when the socket connects.
            guard mayFail else { return nil }
            throw SystemError(errno: Errno.networkDown, call: "connect")
        }
        return best.isKernelChoice || best.interface == requiredInterface ? nil : best.interface
    }
}
