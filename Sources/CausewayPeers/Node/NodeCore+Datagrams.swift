internal import CausewayPeerProtocols
internal import Network

/// A node's datagram lanes.
struct DatagramPorts: Sendable {
    var ports: [DatagramLaneID: DatagramPort] = [:]
    /// For tests: replaces the peer's endpoint.
    var detour: (@Sendable (NWEndpoint) -> NWEndpoint)?

    subscript(id: DatagramLaneID) -> DatagramPort? { ports[id] }
}

extension NodeCore {
    mutating func listenDatagrams(
        _ id: DatagramLaneID, beside link: LinkID, _ secret: DatagramSecret, _ node: PeerNode
    ) {
        let port = port(id, member: lines[link]?.remote, node)
        port.listen(PeerTransport.datagramParameters(secret))
    }

    mutating func dialDatagrams(
        _ id: DatagramLaneID, beside link: LinkID, _ number: UInt16, _ secret: DatagramSecret, _ node: PeerNode
    ) {
        let remote = lines[link]?.remote
        let port = port(id, member: remote, node)
        guard case .hostPort(let host, _)? = remote, let number = NWEndpoint.Port(rawValue: number) else {
            return port.tellLater(.ended(.unreachable))
        }
        let place = NWEndpoint.hostPort(host: host, port: number)
        let endpoint = datagrams.detour?(place) ?? place
        port.add(NWConnection(to: endpoint, using: PeerTransport.datagramParameters(secret)))
    }

    private mutating func port(_ id: DatagramLaneID, member: NWEndpoint?, _ node: PeerNode) -> DatagramPort {
        let port = DatagramPort(node.queue, member: member) { [weak node] event in
            node?.apply { core, now in core.handle(event, of: id, now) }
        }
        datagrams.ports[id] = port
        return port
    }

    private mutating func handle(_ event: DatagramPort.Event, of id: DatagramLaneID, _ now: Duration) {
        switch event {
        case .listening(let port): mesh.datagramsListening(id, on: port, at: now)
        case .ready(let limit): mesh.datagramsReady(id, limit: limit, at: now)
        case .received(let bytes): mesh.datagramArrived(id, bytes, at: now)
        case .sent(let count): mesh.datagramSent(id, count, at: now)
        case .refused(let reason): mesh.datagramsRefused(id, reason, at: now)
        case .ended(let reason): mesh.datagramsEnded(id, reason, at: now)
        }
    }

    mutating func closeDatagrams(_ id: DatagramLaneID) {
        guard let port = datagrams.ports.removeValue(forKey: id) else { return }
        port.close()
        retired.append(port)
    }
}
