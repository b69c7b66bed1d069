package import CausewayTypes
package import CausewayWire

/// A snapshot of the host's network: interfaces, routes and source addresses.
///
/// The model does no I/O. It is built from the lists that the kernel returns, and it selects routes as the kernel does.
package final class NetworkModel: Sendable {
    /// A network interface with its addresses.
    package struct Interface: Equatable, Sendable {
        /// The interface's name, index and type.
        package var interface: NWInterface
        package var link: NetlinkLink
        /// IPv4 and IPv6 addresses in the kernel's order. IPv6 link-local addresses are scoped to this interface.
        package var addresses: [NetlinkAddress]
        /// Whether traffic on the interface costs money.
        package var isExpensive: Bool
        /// Whether the user wants little traffic on the interface (Low Data Mode).
        package var isConstrained: Bool
        /// Whether the bandwidth is very small, as on a satellite link.
        package var isUltraConstrained: Bool
        /// The address families in which the interface can reach hosts beyond its link: families with a usable address
        /// that is not an IPv6 link-local address. On loopback every usable address counts.
        package private(set) var families: Set<InternetAddress.Family> = []

        /// Whether the interface can carry packets: it is up and its link works.
        package var isCarrying: Bool { link.flags.isSuperset(of: [.up, .running]) }
        package var isLoopback: Bool { link.flags.contains(.loopback) }
        /// Whether the interface's addresses belong to the host itself, as on a loopback interface. Packets with these
        /// source addresses may leave through any interface.
        package var isHostItself: Bool { isLoopback || link.kind == "dummy" }
        package var index: Int { interface.index }
    }

    /// The kernel's lists from which the model was built.
    package let state: NetlinkState
    /// All interfaces, sorted by index.
    package let interfaces: [Interface]
    /// The DNS servers that this host queries.
    package let nameServers: [InternetAddress]
    package let searchDomains: [String]
    /// Information from network managers such as NetworkManager.
    package let facts: InterfaceFacts
    /// NAT64 prefixes announced by routers (RFC 8781).
    package let translators: [TranslationPrefix]
    /// The number of times that the DNS servers of this process have changed. It includes servers behind a local
    /// forwarder. The number increases when the resolver begins to use the new servers, which can be later than the
    /// change of ``nameServers``.
    package let resolverRevision: UInt64
    private let positions: [Int: Int]
    private let holders: [InternetAddress: Int]
    private let ipv4: RoutingPolicy
    private let ipv6: RoutingPolicy
    /// Default routers by interface index, lowest metric first in each address family.
    let routers: [Int: [InternetAddress]]

    /// - Parameters:
    ///   - state: The kernel's lists of links, addresses, routes and rules.
    ///   - nameServers: The DNS servers that this host queries.
    ///   - user: The sending user's ID, for routing rules that match a user.
    ///   - facts: Information about interfaces from network managers.
    ///   - translators: NAT64 prefixes announced by routers.
    ///   - resolverRevision: The number of changes of the DNS servers that answer this process's queries.
    ///   - overrides: The user's settings for interfaces. They override the information from network managers.
    ///   - lookUp: Finds an interface with its type; `nil` if the interface was removed after the kernel listed it.
    package init(
        _ state: NetlinkState, nameServers: [InternetAddress] = [], searchDomains: [String] = [], user: UInt32 = 0,
        facts: InterfaceFacts = InterfaceFacts(), translators: [TranslationPrefix] = [], resolverRevision: UInt64 = 0,
        overrides: InterfaceOverrides = InterfaceOverrides(parsing: ""),
        lookUp: (NetlinkLink) -> NWInterface?
    ) {
        self.state = state
        self.nameServers = nameServers
        self.searchDomains = searchDomains
        self.facts = facts
        self.translators = translators
        self.resolverRevision = resolverRevision
        let byIndex = Dictionary(grouping: state.addresses, by: \.interfaceIndex)
        let interfaces = state.links.filter { $0.family == .unspecified }.sorted { $0.index < $1.index }.map { link in
            Interface(link, byIndex[link.index] ?? [], overrides[link.name], facts[link.name], lookUp(link))
        }
        self.interfaces = interfaces
        positions = Dictionary(interfaces.indices.map { (interfaces[$0].index, $0) }) { first, _ in first }
        var holders: [InternetAddress: Int] = [:]
        for interface in interfaces {
            for address in interface.addresses where address.isUsable && holders[address.address] == nil {
                holders[address.address] = interface.index
            }
        }
        self.holders = holders
        routers = Self.routers(state.routes, interfaces)
        let names = Dictionary(interfaces.map { ($0.link.name, $0.index) }) { first, _ in first }
        ipv4 = RoutingPolicy(.ipv4, state, interfaceNames: names, user: user)
        ipv6 = RoutingPolicy(.ipv6, state, interfaceNames: names, user: user)
    }

    private static func routers(_ routes: [NetlinkRoute], _ interfaces: [Interface]) -> [Int: [InternetAddress]] {
        let ordered = routes.filter(\.isDefault).enumerated().sorted { one, other in
            (one.element.family.rawValue, one.element.metric.priority, one.offset)
                < (other.element.family.rawValue, other.element.metric.priority, other.offset)
        }
        var routers: [Int: [InternetAddress]] = [:]
        for hop in ordered.flatMap(\.element.nextHops) where !hop.flags.contains(.dead) {
            guard let gateway = hop.gateway, let interface = interfaces.first(where: { $0.index == hop.interfaceIndex })
            else { continue }
            let scoped = gateway.scoped(to: interface.interface)
            guard routers[interface.index]?.contains(scoped) != true else { continue }
            routers[interface.index, default: []].append(scoped)
        }
        return routers
    }

    package func interface(index: Int) -> Interface? { positions[index].map { interfaces[$0] } }

    /// Returns the interface with this local address, if the address is usable.
    ///
    /// For an address with a scope, returns the scope's interface if it has the address. For a loopback address that no
    /// interface lists, returns the loopback interface.
    package func holder(of address: InternetAddress) -> Interface? {
        if let index = holders[address] { return interface(index: index) }
        if let limit = address.interface {
            return holds(address, on: limit.index) ? interface(index: limit.index) : nil
        }
        return address.isLoopback ? interfaces.first(where: \.isLoopback) : nil
    }

    private func holds(_ address: InternetAddress, on index: Int) -> Bool {
        interface(index: index)?.addresses.contains {
            $0.isUsable && $0.address.unscoped == address.unscoped
        } ?? false
    }

    func policy(_ family: InternetAddress.Family) -> RoutingPolicy { family == .ipv4 ? ipv4 : ipv6 }

    /// Selects a packet's route as the kernel does.
    package func route(for question: RouteQuestion) -> RouteAnswer {
        policy(question.destination.family).answer(question)
    }
}

extension NetworkModel.Interface {
    fileprivate init(
        _ link: NetlinkLink, _ addresses: [NetlinkAddress], _ said: InterfaceOverrides.Entry,
        _ fact: InterfaceFacts.Entry, _ found: NWInterface?
    ) {
        let isLoopback = link.flags.contains(.loopback)
        var interface =
            found ?? NWInterface(name: link.name, index: link.index, type: isLoopback ? .loopback : said.type ?? .other)
        if fact.isCellular, said.type == nil, !isLoopback, interface.type != .cellular {
            interface = NWInterface(name: interface.name, index: interface.index, type: .cellular)
        }
        // If the user declares an interface as cellular, it is expensive by default.
        let meant = said.isExpensive ?? (said.type == .cellular ? true : nil)
        self.init(
            interface: interface, link: link,
            addresses: addresses.map { address in
                var address = address
                address.address = address.address.scoped(to: interface)
                address.peer = address.peer?.scoped(to: interface)
                return address
            },
            isExpensive: meant ?? fact.isMetered ?? (interface.type == .cellular),
            isConstrained: said.isConstrained ?? said.isUltraConstrained ?? false,
            isUltraConstrained: said.isUltraConstrained ?? false)
        let reaching = self.addresses.filter { address in
            address.isUsable && (isLoopback || address.address.family == .ipv4 || address.scope != .link)
        }
        families = Set(reaching.map(\.address.family))
    }
}
