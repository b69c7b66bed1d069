internal import Causeway
internal import CausewayPeerProtocols

/// The local ends of a node's datagram lanes, the DTLS connections for unreliable messages.
struct DatagramPorts: Sendable {
    var ports: [DatagramLaneID: DatagramPort] = [:]
    /// A closure that replaces the peer's endpoint by another one. Only tests set it.
    var detour: (@Sendable (NWEndpoint) -> NWEndpoint)?

    subscript(id: DatagramLaneID) -> DatagramPort? { ports[id] }
}

extension NodeCore {
    mutating func listenDatagrams(
        _ id: DatagramLaneID, beside link: LinkID, _ secret: DatagramSecret, _ node: PeerNode
    ) {
        let port = addPort(id, beside: link, node)
        request(.listenDatagrams(port, secret))
    }

    mutating func dialDatagrams(
        _ id: DatagramLaneID, beside link: LinkID, _ number: UInt16, _ secret: DatagramSecret, _ node: PeerNode
    ) {
        let port = addPort(id, beside: link, node)
        guard case .hostPort(let host, _)? = port.member, let number = NWEndpoint.Port(rawValue: number) else {
            return request(.run { port.tellLater(.ended(.unreachable)) })
        }
        request(.dialDatagrams(port, .hostPort(host: host, port: number), secret))
    }

    /// Creates and registers the UDP port for a DTLS connection. Call this before the port opens, so that the node
    /// knows the port when it reports its first event.
    private mutating func addPort(_ id: DatagramLaneID, beside link: LinkID, _ node: PeerNode) -> DatagramPort {
        let port = DatagramPort(node.queue, member: lines[link]?.remote) { [weak node] event in
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
        if let port = datagrams.ports.removeValue(forKey: id) { request(.closeDatagrams(port)) }
    }
}

extension PeerNode {
    func dialDatagrams(_ port: DatagramPort, _ place: NWEndpoint, _ secret: DatagramSecret) {
        let detour = withCore { core in core.datagrams.detour }
        let endpoint = detour?(place) ?? place
        port.add(NWConnection(to: endpoint, using: PeerTransport.datagramParameters(secret)))
    }
}
