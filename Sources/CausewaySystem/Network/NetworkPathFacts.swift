package import CausewayTypes
package import CausewayWire

/// Describes an existing connection's path, given the connection's local address.
///
/// Each call queries the kernel and takes some tens of microseconds, so call it only when a user asks for the path. The
/// results apply to the calling thread's network namespace. If the kernel cannot be queried, the results are empty,
/// because a missing description is no reason for a connection to fail.
package enum NetworkPathFacts {
    /// Returns the interface that holds the local address `address`. If `address` has a scope, returns the scope's
    /// interface without a query.
    ///
    /// Returns `nil` if no interface has the address, for example after it was removed, and for `0.0.0.0`.
    package static func interface(holding address: IPv4Address) -> NWInterface? {
        if let interface = address.interface { return interface }
        guard address.bits != 0 else { return nil }
        if let found = holder(of: .ipv4(address)) { return found }
        // All of 127.0.0.0/8 is this host, although only one address in it is assigned (RFC 1122 §3.2.1.3).
        return address.bits >> 24 == 127 ? loopback : nil
    }

    /// Returns the interface that holds the local address `address`. If `address` has a scope, returns the scope's
    /// interface without a query.
    ///
    /// An IPv4-mapped address is looked up as an IPv4 address. Returns `nil` if no interface has the address, and for
    /// `::`.
    package static func interface(holding address: IPv6Address) -> NWInterface? {
        if let interface = address.interface { return interface }
        if address.isIPv4Mapped, let inner = address.asIPv4 { return interface(holding: inner) }
        return address.isAny ? nil : holder(of: .ipv6(address))
    }

    /// Returns the default routers through `interface`, in order of preference and without duplicates.
    ///
    /// The result is empty for loopback and for tunnels.
    package static func gateways(of interface: NWInterface) -> [InternetAddress] {
        guard interface.type != .loopback else { return [] }
        let routes = try? query { (socket) throws(SystemError) in try socket.listDefaultRoutes() }
        let found = NetworkSnapshot.defaultRoutes(routes ?? []) { $0 == interface.index ? interface : nil }
        return NetworkSnapshot(defaultRoutes: found).gateways()
    }

    /// Returns the families for which `interface` has an address that is usable beyond its own link.
    ///
    /// A link-local IPv6 address alone does not count; on loopback every address counts.
    package static func families(of interface: NWInterface) -> Set<InternetAddress.Family> {
        let addresses = try? query { (socket) throws(SystemError) in
            try socket.list(.addresses(.unspecified)) { message -> NetlinkAddress? in
                guard case .address(let address) = message, address.interfaceIndex == interface.index,
                    address.isUsable
                else { return nil }
                return address
            }
        }
        let reaching = (addresses ?? []).filter { address in
            interface.type == .loopback || address.address.family == .ipv4 || address.scope != .link
        }
        return Set(reaching.map(\.address.family))
    }

    /// Returns whether `address` belongs to this host or is on a directly attached link.
    ///
    /// Returns `false` if the kernel cannot be queried.
    package static func isLocal(_ address: InternetAddress) -> Bool {
        switch address {
        case .ipv4(let address) where address.isLoopback || address.isLinkLocal: return true
        case .ipv6(let address) where address.isLoopback || address.isLinkLocal: return true
        case .ipv4, .ipv6: break
        }
        let networks = try? query { (socket) throws(SystemError) in
            try socket.list(.addresses(address.family)) { message -> NetlinkAddress? in
                guard case .address(let network) = message else { return nil }
                return network
            }
        }
        return (networks ?? []).contains {
            $0.prefixLength > 0 && address.isInside($0.address, length: $0.prefixLength)
        }
    }

    /// Whether any DNS server is configured. Does not check whether the server answers.
    package static var isDNSAvailable: Bool { !ResolverState.current().servers.isEmpty }

    private static var loopback: NWInterface? {
        let index = try? query { (socket) throws(SystemError) in
            try socket.list(.links) { message -> Int? in
                guard case .link(let link) = message, link.flags.contains(.loopback) else { return nil }
                return link.index
            }
        }
        return index?.first.flatMap { NWInterface(index: $0) }
    }

    private static func holder(of wanted: InternetAddress) -> NWInterface? {
        let indices = try? query { (socket) throws(SystemError) in
            try socket.list(.addresses(wanted.family)) { message -> Int? in
                guard case .address(let address) = message, address.address == wanted else { return nil }
                return address.interfaceIndex
            }
        }
        return indices?.first.flatMap { NWInterface(index: $0) }
    }

    private static func query<Value>(
        _ body: (inout NetlinkSocket) throws(SystemError) -> [Value]
    ) throws(SystemError) -> [Value] {
        var socket = try NetlinkSocket()
        return try body(&socket)
    }
}
