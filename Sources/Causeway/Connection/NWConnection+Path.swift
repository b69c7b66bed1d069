internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension NWConnection {
    /// The path in use: its interface, both addresses, gateways. `nil` before the connection is ready and after its end.
    public var currentPath: NWPath? {
        guard case .ready = driver.state else { return nil }
        guard let addresses = driver.flow.addresses else { return nil }
        return NWPath(local: addresses.local?.unmapped, remote: addresses.remote?.unmapped, endpoint: endpoint)
    }

    /// The most octets of one datagram on the current path. 0 before the connection is ready, and on a stream.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var maximumDatagramSize: Int {
        guard driver.settings.transport == .udp, case .ready = driver.state else { return 0 }
        return driver.flow.withDescriptor { fd in
            // The socket of a listener's peer is shared and has no peer of its own.
            let isV6 = (Socket.peerAddress(fd)?.unmapped.family ?? endpoint.family) == .ipv6
            let mtu = try? Socket.get(isV6 ? .ipv6PathMTU : .ipv4PathMTU, of: fd)
            // An unconnected socket does not know its path: then what every Ethernet carries.
            let headers = isV6 ? 48 : 28
            // RFC 8200 §5: every link carries 1,280 octets, and the program may want no more.
            let most = isV6 && driver.settings.ip.useMinimumMTU ? 1_280 : 65_535 + (isV6 ? 40 : 0)
            return min(mtu ?? 1_500, most) - headers
        } ?? 0
    }
}

extension NWPath {
    init(local: SocketAddress?, remote: SocketAddress?, endpoint: NWEndpoint, interface known: NWInterface? = nil) {
        let interface = known ?? local.flatMap(NetworkPathFacts.interface(holding:))
        let families = interface.map { NetworkPathFacts.families(of: $0) } ?? []
        let gateways = interface.map { NetworkPathFacts.gateways(of: $0) } ?? []
        self.init(
            status: .satisfied, availableInterfaces: interface.map { [$0] } ?? [],
            isExpensive: interface?.type == .cellular,
            supportsIPv4: families.contains(.ipv4), supportsIPv6: families.contains(.ipv6),
            supportsDNS: NetworkPathFacts.isDNSAvailable, gateways: gateways.map { NWEndpoint($0) },
            localEndpoint: local.map { NWEndpoint($0) }, remoteEndpoint: remote.map { NWEndpoint($0) } ?? endpoint)
    }
}

extension NetworkPathFacts {
    fileprivate static func interface(holding address: SocketAddress) -> NWInterface? {
        switch address {
        case .ipv4(let bits, _): interface(holding: IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, let scope):
            scope != 0
                ? NWInterface(index: Int(scope)) : interface(holding: IPv6Address(high: high, low: low, interface: nil))
        case .unix: nil
        }
    }
}
