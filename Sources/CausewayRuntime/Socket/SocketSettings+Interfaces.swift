package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension SocketSettings {
    /// What these settings demand of a path.
    package var pathConstraints: PathConstraints {
        var constraints = PathConstraints()
        constraints.requiredInterface = requiredInterface
        constraints.prohibitedInterfaces = prohibitedInterfaces
        constraints.requiredType = requiredInterfaceType
        constraints.prohibitedTypes = prohibitedInterfaceTypes
        constraints.prohibitsExpensive = prohibitsExpensive
        constraints.prohibitsConstrained = prohibitsConstrained
        constraints.allowsUltraConstrained = allowsUltraConstrained
        switch ip.version {
        case .any: break
        case .v4: constraints.family = .ipv4
        case .v6: constraints.family = .ipv6
        }
        constraints.localAddress = localAddress?.internetAddress
        constraints.transport = transport == .tcp ? 6 : 17
        return constraints
    }

    /// Which interfaces may carry packets to an address, in which order, with which source address.
    ///
    /// Empty where the program has excluded all that could, and where there are none.
    func ways(toward address: SocketAddress, in model: NetworkModel) -> [PathWay] {
        guard let destination = address.internetAddress else { return [] }
        var constraints = pathConstraints
        constraints.port = address.port
        return model.ways(to: destination, constraints)
    }

    /// The interface that an attempt has to be bound to; `nil` where the kernel's own way is right.
    ///
    /// The network is looked at only if the program excludes interfaces; what somebody follows anyway is used besides.
    ///
    /// - Throws: `ENETDOWN` if the program has excluded every way.
    func chooseInterface(toward address: SocketAddress) throws(SystemError) -> NWInterface? {
        guard address.family != .unix else { return nil }
        let mayFail = pathConstraints.excludesInterfaces
        guard mayFail || !address.isLoopback,
            let model = mayFail ? NetworkStateMonitor.shared.model : NetworkStateMonitor.shared.followed
        else { return nil }
        guard let best = ways(toward: address, in: model).first else {
            // Without demands it is the kernel that says what is wrong.
            guard mayFail else { return nil }
            throw SystemError(errno: Errno.networkDown, call: "connect")
        }
        return best.isKernelChoice || best.interface == requiredInterface ? nil : best.interface
    }
}
