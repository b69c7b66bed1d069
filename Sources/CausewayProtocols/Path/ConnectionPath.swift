package import CausewayTypes
package import CausewayWire

/// An established connection's current path.
package struct ConnectionPath: Equatable, Sendable {
    /// The interface that sends the connection's packets; `nil` if there is none.
    package var interface: NWInterface?
    /// Whether packets can flow.
    package var isViable: Bool
    /// Whether a better interface is available for a new connection to the same endpoint.
    package var hasBetter: Bool
    /// Whether the kernel sends the connection's packets over the wrong interface.
    ///
    /// The right interface is the one that has the connection's source address, and a route over it exists. The
    /// connection still works if its socket is bound to that interface.
    package var strays: Bool
    package var traits: Traits = []
    package var families: Set<InternetAddress.Family> = []
    package var gateways: [InternetAddress] = []
    package var hasNameServers = false

    /// The reasons why a program may want to send less data over this path.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let expensive = Traits(rawValue: 1 << 0)
        package static let constrained = Traits(rawValue: 1 << 1)
        package static let ultraConstrained = Traits(rawValue: 1 << 2)
    }

    /// The path for a connection within the host, for example between two processes. It needs no network.
    package static let local = ConnectionPath(interface: nil, isViable: true, hasBetter: false, strays: false)
    package static let none = ConnectionPath(interface: nil, isViable: false, hasBetter: false, strays: false)
}

/// A connection whose path is monitored.
package struct FollowedConnection: Equatable, Sendable {
    package var local: InternetAddress
    package var remote: InternetAddress
    package var constraints: PathConstraints
    /// Whether the connection can be established again. This is so on a client, because the program chose the endpoint.
    /// A server cannot connect again.
    package var mayMove: Bool
    /// Whether the endpoint is a name rather than an address. A name can have several addresses. If one address is not
    /// reachable, another may be.
    package var isNamed: Bool
    /// Whether the connection's first packets already left over an interface without the local address. Routing tables
    /// can require such a path. For such a connection, ``ConnectionPath/strays`` is therefore never set.
    package var isForeign = false
    /// The index of the interface that had the local address when the connection became ready.
    package var home: Int?

    package init(
        local: InternetAddress, remote: InternetAddress, constraints: PathConstraints, mayMove: Bool, isNamed: Bool
    ) {
        self.local = local
        self.remote = remote
        self.constraints = constraints
        self.mayMove = mayMove
        self.isNamed = isNamed
    }
}

extension NetworkModel {
    /// Records how the host routes a connection that has just become ready.
    package func follow(_ connection: FollowedConnection) -> FollowedConnection {
        var connection = connection
        guard let home = holder(of: connection.local), !home.isHostItself else { return connection }
        connection.home = home.index
        guard case .route(let route, let hop) = route(for: question(connection)), route.kind != .local else {
            return connection
        }
        // The kernel may prefer another source address. If a client socket is bound to an interface, it uses the
        // address of that interface nevertheless.
        let isAsRouted =
            !connection.mayMove || source(for: connection.remote, route, hop)?.unscoped == connection.local.unscoped
        connection.isForeign = hop.interfaceIndex != home.index && isAsRouted
        return connection
    }

    /// Returns a ready connection's path.
    package func path(of connection: FollowedConnection) -> ConnectionPath {
        guard let home = holder(of: connection.local) else { return lost(connection) }
        var strays = false
        guard let carrier = carrier(of: connection, home, &strays), carrier.isCarrying else {
            return lost(connection)
        }
        let isKernelChoice = !strays && connection.constraints.requiredInterface == nil
        return path(
            over: carrier, hasBetter: hasBetter(connection, than: carrier, isKernelChoice: isKernelChoice),
            strays: strays)
    }

    /// Returns the path of a connection with several subflows (RFC 8684). It is the path of the oldest subflow that
    /// works.
    package func path(of subflows: [FollowedConnection]) -> ConnectionPath {
        let paths = subflows.map { path(of: $0) }
        let working = paths.filter(\.isViable)
        guard var path = working.first ?? paths.first else { return .none }
        // A better path exists only if every subflow has a better path. If one subflow already uses the best interface,
        // a new connection would not be better.
        path.hasBetter = (working.isEmpty ? paths : working).allSatisfy(\.hasBetter)
        return path
    }

    /// Whether the connection's interface has lost the connection's local address and has another address now. The peer
    /// still sends to the lost address, so its packets cannot arrive until the interface gets this address again.
    package func isRenumbered(_ connection: FollowedConnection) -> Bool {
        guard let home = connection.home.flatMap({ interface(index: $0) }), holder(of: connection.local) == nil else {
            return false
        }
        return home.addresses.contains { held in
            held.isUsable && held.address.family == connection.local.family && !held.address.isLinkLocal
        }
    }

    /// Returns the path for traffic that arrives over an interface. Does not consider routes.
    package func path(on known: NWInterface) -> ConnectionPath {
        guard let interface = interface(index: known.index) else {
            return ConnectionPath(interface: known, isViable: true, hasBetter: false, strays: false)
        }
        return path(over: interface, hasBetter: false, strays: false)
    }

    private func path(over carrier: Interface, hasBetter: Bool, strays: Bool) -> ConnectionPath {
        ConnectionPath(
            interface: carrier.interface, isViable: true, hasBetter: hasBetter, strays: strays,
            traits: ConnectionPath.Traits(of: carrier), families: carrier.families,
            gateways: carrier.isLoopback ? [] : gateways(on: carrier.index), hasNameServers: !nameServers.isEmpty)
    }

    /// Returns the interface that sends the connection's packets; `nil` if there is none.
    ///
    /// `home` is the interface with the local address. `strays` becomes `true` if packets leave over `home` only when
    /// the socket is bound to `home`.
    private func carrier(of connection: FollowedConnection, _ home: Interface, _ strays: inout Bool) -> Interface? {
        let asked = question(connection)
        if case .route(let route, let hop) = route(for: asked) {
            if route.kind == .local { return interfaces.first(where: \.isLoopback) }
            if home.isHostItself || connection.isForeign { return hop.interfaceIndex.flatMap { interface(index: $0) } }
            if hop.interfaceIndex == home.index { return home }
        }
        guard !home.isHostItself, !connection.isForeign, asked.interfaceIndex == nil else { return nil }
        // The kernel has no route for the packets now, or would send them over another interface. Check for a route
        // over the interface that has the connection's local address.
        var bound = asked
        bound.interfaceIndex = home.index
        guard case .route(let route, _) = route(for: bound), route.kind == .unicast else { return nil }
        strays = true
        return home
    }

    private func question(_ connection: FollowedConnection) -> RouteQuestion {
        var question = connection.constraints.question(to: connection.remote)
        question.source = connection.local.unscoped
        return question
    }

    private func lost(_ connection: FollowedConnection) -> ConnectionPath {
        var path = ConnectionPath.none
        path.hasBetter = hasBetter(connection, than: nil)
        return path
    }

    private func hasBetter(
        _ connection: FollowedConnection, than carrier: Interface?, isKernelChoice: Bool = false
    ) -> Bool {
        guard connection.mayMove, carrier?.isLoopback != true else { return false }
        // The kernel would also choose this interface for a new connection. So there is no better interface.
        if let carrier, isKernelChoice, !policy(connection.remote.family).asksForSources,
            connection.constraints.permits(carrier)
        {
            return false
        }
        if let remote = bestWay(to: connection.remote, connection.constraints) {
            return remote.interface.index != carrier?.index
        }
        guard connection.isNamed else { return false }
        // The current remote address is unreachable. But the endpoint is a name, which may have another, reachable
        // address.
        return waysToEverywhere(connection.constraints).contains { $0.interface.index != carrier?.index }
    }
}

extension ConnectionPath.Traits {
    fileprivate init(of interface: NetworkModel.Interface) {
        self = []
        if interface.isExpensive { insert(.expensive) }
        if interface.isConstrained { insert(.constrained) }
        if interface.isUltraConstrained { insert(.ultraConstrained) }
    }
}
