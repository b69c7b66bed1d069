import CausewayTypes
import CausewayWire

extension NetworkSnapshot {
    /// Queries the kernel and reads the resolver's files. Blocks for about 0.1 ms on a host with few interfaces.
    ///
    /// Links, addresses and routes are listed one after the other, so a change between two listings may appear in only
    /// one of them. Callers create a new ``NetworkSnapshot`` after each change.
    ///
    /// - Throws: ``SystemError`` if the kernel cannot be queried. Missing resolver files are not an error.
    package static func current() throws(SystemError) -> NetworkSnapshot {
        var socket = try NetlinkSocket()
        let links = try socket.list(.links) { message -> NetlinkLink? in
            guard case .link(let link) = message else { return nil }
            return link
        }
        let addresses = try socket.list(.addresses(.unspecified)) { message -> NetlinkAddress? in
            guard case .address(let address) = message else { return nil }
            return address
        }
        let routes = try socket.listDefaultRoutes()
        let resolver = ResolverState.current()
        var radios: Set<Int>?
        let interfaces = assemble(links: links, addresses: addresses) { NWInterface($0, radios: &radios) }
        return NetworkSnapshot(
            interfaces: interfaces,
            defaultRoutes: defaultRoutes(routes) { index in
                interfaces.first { $0.interface.index == index }?.interface
            },
            dnsServers: resolver.servers,
            searchDomains: resolver.configuration.searchDomains)
    }

    /// Combines links with their addresses.
    ///
    /// - Parameters:
    ///   - links: The kernel's links. Entries with an address family are ignored, because they do not describe the
    ///     interface but, for example, a bridge port.
    ///   - addresses: All addresses.
    ///   - lookUp: Returns a link's interface, or `nil` if it has disappeared since the link was listed.
    static func assemble(
        links: [NetlinkLink], addresses: [NetlinkAddress], lookUp: (NetlinkLink) -> NWInterface?
    ) -> [Interface] {
        let addressesByIndex = Dictionary(grouping: addresses, by: \.interfaceIndex)
        return links.filter { $0.family == .unspecified }.sorted { $0.index < $1.index }.map { link in
            let type: NWInterface.InterfaceType = link.flags.contains(.loopback) ? .loopback : .other
            let interface = lookUp(link) ?? NWInterface(name: link.name, index: link.index, type: type)
            let own = (addressesByIndex[link.index] ?? []).map { address in
                var address = address
                address.address = address.address.scoped(to: interface)
                address.peer = address.peer?.scoped(to: interface)
                return address
            }
            return Interface(interface: interface, link: link, addresses: own)
        }
    }

    /// Returns the usable default routes, one entry for each next hop, sorted by preference.
    static func defaultRoutes(_ routes: [NetlinkRoute], lookUp: (Int) -> NWInterface?) -> [DefaultRoute] {
        var found: [DefaultRoute] = []
        for route in routes where route.isDefault {
            for hop in route.nextHops where hop.flags.isDisjoint(with: [.dead, .linkDown]) {
                guard let interface = hop.interfaceIndex.flatMap(lookUp) else { continue }
                found.append(
                    DefaultRoute(
                        family: route.family, gateway: hop.gateway?.scoped(to: interface), interface: interface,
                        priority: route.metric.priority, table: route.table))
            }
        }
        // This sort does not keep the order of equal elements. So the position is part of the sort key, and equal
        // routes stay in the kernel's order.
        return found.enumerated().sorted { preference($0) < preference($1) }.map(\.element)
    }

    private static func preference(
        _ entry: (offset: Int, element: DefaultRoute)
    ) -> (UInt8, Int, UInt32, Int) {
        let route = entry.element
        return (route.family.rawValue, route.table == NetlinkRoute.mainTable ? 0 : 1, route.priority, entry.offset)
    }
}

extension NetlinkSocket {
    /// Returns the default routes of both address families, from all routing tables. Skips all other routes, because
    /// full Internet tables are large.
    mutating func listDefaultRoutes() throws(SystemError) -> [NetlinkRoute] {
        try list(.routes(.unspecified)) { message -> NetlinkRoute? in
            guard case .route(let route) = message, route.isDefault else { return nil }
            return route
        }
    }
}
