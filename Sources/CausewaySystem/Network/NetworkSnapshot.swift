package import CausewayTypes
package import CausewayWire

/// The host's interfaces, default routes and DNS servers at one moment, as the calling thread's network namespace
/// has them.
package struct NetworkSnapshot: Equatable, Sendable {
    /// In the order of the kernel's indices, which puts loopback first on most hosts.
    package var interfaces: [Interface]
    /// The ways to everywhere else, for each family the preferred one first. Ways that are known to be dead are left
    /// out.
    package var defaultRoutes: [DefaultRoute]
    /// The DNS servers that questions end up at. See ``ResolverState``.
    package var dnsServers: [InternetAddress]
    /// Domains that are appended to short names.
    package var searchDomains: [String]

    /// A network interface with its addresses.
    package struct Interface: Equatable, Sendable {
        /// Name, index and type.
        package var interface: NWInterface
        /// Everything else the kernel says about it.
        package var link: NetlinkLink
        /// IPv4 and IPv6 in the kernel's order. Link-local IPv6 addresses carry the interface as their scope.
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
        /// The largest packet, in bytes.
        package var mtu: Int? { link.mtu }
        /// The link-layer address as `aa:bb:cc:dd:ee:ff`; `nil` where there is none, or only zeros.
        package var hardwareAddress: String? {
            guard link.hardwareAddress.contains(where: { $0 != 0 }) else { return nil }
            return link.hardwareAddress
                .map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }
                .joined(separator: ":")
        }
    }

    /// One way to every address that no other route covers.
    package struct DefaultRoute: Equatable, Sendable {
        package var family: InternetAddress.Family
        /// The router; `nil` where the link itself takes every packet, as tunnels do.
        package var gateway: InternetAddress?
        package var interface: NWInterface
        /// The metric: the least wins.
        package var priority: UInt32
        /// The routing table, ``NetlinkRoute/mainTable`` unless policy routing is in use.
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

    /// The routers of one interface, or of all, without repetitions.
    package func gateways(of interface: NWInterface? = nil) -> [InternetAddress] {
        var gateways: [InternetAddress] = []
        for route in defaultRoutes where interface == nil || route.interface.index == interface?.index {
            if let gateway = route.gateway, !gateways.contains(gateway) { gateways.append(gateway) }
        }
        return gateways
    }
}
