package import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

extension NWConnection {
    /// The connection's current path, with the interface, both addresses and the gateways. Until the connection is
    /// ready, this is the path that it would use now, without addresses. `nil` before the start and after the end.
    public var currentPath: NWPath? {
        switch driver.state {
        case .setup, .failed, .cancelled: return nil
        case .preparing, .waiting: return awaitedPath
        case .ready:
            let model = NetworkStateMonitor.shared.model
            return makePath(driver.currentPath(in: model) ?? .local)
        }
    }

    /// The maximum size of a message on the current path, in bytes. The overhead of DTLS is already subtracted.
    ///
    /// The value is 0 until the connection is ready. For a stream, it is always 0.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var maximumDatagramSize: Int {
        guard driver.settings.transport == .udp, case .ready = driver.state else { return 0 }
        guard let size = pathDatagramSize else { return 0 }
        let security = metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata
        guard let limits = security?.securityProtocolMetadata.values.datagrams else { return size }
        return max(0, min(limits.longestMessage, size - limits.overhead))
    }

    /// The maximum datagram size, in bytes; `nil` if there is no socket.
    private var pathDatagramSize: Int? {
        driver.flow.withDescriptor { fd in
            // A connection that a listener accepted may share its socket with other connections. A shared socket has no
            // peer address. In this case, use the address family of the endpoint.
            let isV6 = (Socket.peerAddress(fd)?.unmapped.family ?? endpoint.family) == .ipv6
            let mtu = try? Socket.get(isV6 ? .ipv6PathMTU : .ipv4PathMTU, of: fd)
            // The path MTU is unknown if the socket is not connected. In that case, use the MTU of Ethernet, which is
            // 1,500 bytes.
            let headers = isV6 ? 48 : 28
            // Every IPv6 link can carry packets of 1,280 bytes (RFC 8200 §5). With `useMinimumMTU`, packets are limited
            // to this size.
            let maximum = isV6 && driver.settings.ip.useMinimumMTU ? 1_280 : 65_535 + (isV6 ? 40 : 0)
            return max(0, min(mtu ?? 1_500, maximum) - headers - (driver.route?.overhead ?? 0))
        }
    }

    /// Creates a path with this connection's addresses; `nil` if the connection's socket is already closed.
    func makePath(_ path: ConnectionPath) -> NWPath? {
        guard let addresses = driver.flow.addresses else { return nil }
        return NWPath(path, local: addresses.local?.unmapped, remote: addresses.remote?.unmapped, endpoint: endpoint)
    }

    /// The path that the connection would use if it were established now.
    private var awaitedPath: NWPath {
        let model = NetworkStateMonitor.shared.model
        return makePath(driver.awaitedPath(in: model))
    }

    /// Creates the `NWPath` of a connection that is not ready. `path` is `nil` if the connection needs no network, for
    /// example for a Unix domain socket.
    func makePath(_ path: PathEvaluation?) -> NWPath {
        guard let path else { return NWPath(.local, local: nil, remote: nil, endpoint: endpoint) }
        return NWPath(path, endpoint: endpoint)
    }
}

extension NWPath {
    /// Creates the path for a connection that is ready.
    init(_ path: ConnectionPath, local: SocketAddress?, remote: SocketAddress?, endpoint: NWEndpoint) {
        // A Unix domain socket without a path has an empty address. If the local address is empty, the local endpoint
        // is `nil`. If the remote address is empty, the remote endpoint is the connection's `endpoint`.
        let ownEnd = local.map { NWEndpoint($0) }.flatMap { $0 == .unix(path: "") ? nil : $0 }
        let otherEnd = remote.map { NWEndpoint($0) }.flatMap { $0 == .unix(path: "") ? nil : $0 }
        self.init(
            status: path.isViable ? .satisfied : .unsatisfied, availableInterfaces: path.interface.map { [$0] } ?? [],
            isExpensive: path.traits.contains(.expensive), isConstrained: path.traits.contains(.constrained),
            isUltraConstrained: path.traits.contains(.ultraConstrained), supportsIPv4: path.families.contains(.ipv4),
            supportsIPv6: path.families.contains(.ipv6), supportsDNS: path.hasNameServers,
            gateways: path.gateways.map { NWEndpoint($0) }, localEndpoint: ownEnd,
            remoteEndpoint: otherEnd ?? endpoint)
    }

    /// Creates the path for a message that arrived on an interface.
    init(local: SocketAddress?, remote: SocketAddress?, endpoint: NWEndpoint, interface known: NWInterface? = nil) {
        let model = NetworkStateMonitor.shared.model
        let interface = known ?? local?.internetAddress.flatMap { model.holder(of: $0) }?.interface
        let path = interface.map { model.path(on: $0) } ?? .local
        self.init(path, local: local, remote: remote, endpoint: endpoint)
    }

    /// Creates the path to an endpoint, or the default path.
    ///
    /// - Parameter idleInterfaces: Interfaces without a route. The new path lists them if `path` has no usable route.
    package init(_ path: PathEvaluation, endpoint: NWEndpoint? = nil, idleInterfaces: [NWInterface] = []) {
        self.init(
            status: path.isSatisfied ? .satisfied : .unsatisfied,
            availableInterfaces: path.isSatisfied ? path.interfaces : idleInterfaces,
            isExpensive: path.isExpensive, isConstrained: path.isConstrained,
            isUltraConstrained: path.isUltraConstrained, supportsIPv4: path.families.contains(.ipv4),
            supportsIPv6: path.families.contains(.ipv6), supportsDNS: path.hasNameServers,
            gateways: path.gateways.map { NWEndpoint($0) }, remoteEndpoint: endpoint)
    }
}
