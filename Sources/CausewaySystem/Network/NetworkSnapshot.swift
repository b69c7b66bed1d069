package import CausewayTypes
package import CausewayWire

/// The host's interfaces, default routes and DNS servers at one moment, in the calling thread's network namespace.
package struct NetworkSnapshot: Equatable, Sendable {
    /// The interfaces, sorted by index. On most hosts loopback comes first.
    package var interfaces: [Interface]
    /// The default routes of each address family. The preferred route comes first. Routes that the kernel marks as
    /// unusable are left out.
    package var defaultRoutes: [DefaultRoute]
    /// The DNS servers that answer queries. If this host uses a local forwarder, these are the forwarder's servers. See
    /// ``ResolverState``.
    package var dnsServers: [InternetAddress]
    /// The domains that a lookup appends to short names.
    package var searchDomains: [String]

    /// A network interface with its addresses.
    package struct Interface: Equatable, Sendable {
        /// The interface's name, index and type.
        package var interface: NWInterface
        /// The interface as the kernel reports it, for example with its flags and its maximum packet size.
        package var link: NetlinkLink
        /// IPv4 and IPv6 addresses in the kernel's order. Link-local IPv6 addresses have the interface as their scope.
        package var addresses: [NetlinkAddress]

        package init(interface: NWInterface, link: NetlinkLink, addresses: [NetlinkAddress] = []) {
            self.interface = interface
            self.link = link
            self.addresses = addresses
        }

        package var isUp: Bool { link.flags.contains(.up) }
        package var isRunning: Bool { link.flags.contains(.running) }
        package var isLoopback: Bool { link.flags.contains(.loopback) }
        package var isPointToPoint: Bool { link.flags.contains(.pointToPoint) }
        package var supportsMulticast: Bool { link.flags.contains(.multicast) }
        /// The maximum packet size, in bytes.
        package var mtu: Int? { link.mtu }
        /// The link-layer address as `aa:bb:cc:dd:ee:ff`; `nil` if there is none, or if it is all zeros.
        package var hardwareAddress: String? {
            guard link.hardwareAddress.contains(where: { $0 != 0 }) else { return nil }
            return Hexadecimal.colonSeparated(link.hardwareAddress)
        }
    }

    /// A default route.
    package struct DefaultRoute: Equatable, Sendable {
        package var family: InternetAddress.Family
        /// The router; `nil` for a route without a gateway, as on a tunnel.
        package var gateway: InternetAddress?
        package var interface: NWInterface
        /// The metric of the route. The kernel prefers the route with the lowest metric.
        package var priority: UInt32
        /// The routing table: ``NetlinkRoute/mainTable``, unless the host uses policy routing.
        package var table: UInt32

        package init(
            family: InternetAddress.Family, gateway: InternetAddress?, interface: NWInterface, priority: UInt32,
            table: UInt32
        ) {
            self.family = family
            self.gateway = gateway
            self.interface = interface
            self.priority = priority
            self.table = table
        }
    }

    package init(
        interfaces: [Interface] = [], defaultRoutes: [DefaultRoute] = [], dnsServers: [InternetAddress] = [],
        searchDomains: [String] = []
    ) {
        self.interfaces = interfaces
        self.defaultRoutes = defaultRoutes
        self.dnsServers = dnsServers
        self.searchDomains = searchDomains
    }

    package func interface(index: Int) -> Interface? {
        interfaces.first { $0.interface.index == index }
    }

    /// Returns the routers on `interface`, or on all interfaces if it is `nil`, without duplicates.
    package func gateways(of interface: NWInterface? = nil) -> [InternetAddress] {
        var gateways: [InternetAddress] = []
        for route in defaultRoutes where interface == nil || route.interface.index == interface?.index {
            if let gateway = route.gateway, !gateways.contains(gateway) { gateways.append(gateway) }
        }
        return gateways
    }
}
