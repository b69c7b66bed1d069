internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation
internal import Network

extension NodeCore {
    /// The delay between the starts of two candidates.
    private static let spacing = Duration.milliseconds(400)
    /// The maximum number of interfaces on which a link-local address is tried.
    private static let interfaceLimit = 8

    mutating func start(_ dial: PeerDial, _ id: LinkID, _ node: PeerNode) {
        // The machine repeats dials for other purposes. A newly found peer may need a moment until it can be reached,
        // for example while its link comes up.
        let pauses = dial.purpose == .invitation ? Self.pauses : []
        let race = PeerRace(dial: dial, candidates: candidates(dial), pauses: pauses)
        dials.add(id, race, own: node.local.peer.key, at: PeerNode.now)
    }

    /// Starts the dials that may start now.
    mutating func startDials(_ node: PeerNode) {
        while let id = dials.nextToStart(at: PeerNode.now) { next(id, node) }
        guard let time = dials.timeToLook(at: PeerNode.now) else { return }
        node.queue.call(after: time + .milliseconds(1)) { [weak node] in
            node?.apply { core, _ in core.dials.isAwaited = false }
        }
    }

    private static let pauses: [Duration] = [.milliseconds(200), .milliseconds(600)]

    private func candidates(_ dial: PeerDial) -> [NWEndpoint] {
        let interfaces = LocalNetwork.current.linkLocalInterfaces.prefix(Self.interfaceLimit)
        let given = dial.endpoints.flatMap { NWEndpoint.candidates($0, interfaces) }
        let found = places.endpoints(of: dial.peer)
        // For an invitation, try discovered endpoints first. For other purposes, the addresses from the introduction or
        // the broken link are newer than discovery.
        return dial.purpose == .invitation ? found + given : given + found
    }

    /// Starts the next candidate. If none is left and none is running, the dial failed.
    private mutating func next(_ id: LinkID, _ node: PeerNode) {
        guard var race = dials[id] else { return }
        guard let candidate = race.takeCandidate() else {
            guard race.running.isEmpty else { return }
            if !race.pauses.isEmpty { return again(id, node) }
            dials.remove(id)
            // Asynchronously: otherwise the machine would dial again within this call, fail again, and so on.
            return node.queue.async {
                node.apply { core, now in core.mesh.dialFailed(id, at: now) }
            }
        }
        let digest = race.dial.peer.digestBytes
        let parameters = PeerTransport.parameters(node.local, queue: node.queue) { key in
            PeerKeyPair.digest(key).prefix(16).elementsEqual(digest)
        }
        let connection = NWConnection(to: candidate, using: parameters)
        let link = node.link(connection, waits: false)
        race.running.append(link)
        dials[id] = race
        link.start()
        guard !race.candidates.isEmpty else { return }
        let startCount = race.startCount
        node.queue.call(after: Self.spacing) {
            node.apply { core, _ in
                // If a candidate has started since, because this one failed, a timer that runs now could end the dial during a pause.
                guard core.dials[id]?.startCount == startCount else { return }
                core.next(id, node)
            }
        }
    }

    /// Begins another round after a pause, unless the dial was cancelled meanwhile.
    private mutating func again(_ id: LinkID, _ node: PeerNode) {
        guard let pause = dials[id]?.pauses.removeFirst() else { return }
        node.queue.call(after: pause) {
            node.apply { core, _ in
                guard let race = core.dials[id], race.candidates.isEmpty, race.running.isEmpty else { return }
                let candidates = core.candidates(race.dial)
                core.dials[id]?.candidates = candidates
                core.next(id, node)
            }
        }
    }

    /// A dialled link has a TLS session: it wins its race.
    mutating func dialled(_ link: PeerLink, _ facts: LinkFacts, _ remote: NWEndpoint?, _ now: Duration) {
        guard let id = dials.dial(of: link), let race = dials.remove(id) else { return link.close(abruptly: true) }
        for other in race.running where other !== link { other.close(abruptly: true) }
        keep(link, remote, id)
        mesh.dialSucceeded(id, facts, at: now)
    }

    /// Returns whether the closed link was a dial's candidate. If so, starts the next candidate.
    mutating func raceLost(_ link: PeerLink, _ node: PeerNode, _ now: Duration) -> Bool {
        guard let id = dials.dial(of: link) else { return false }
        dials[id]?.running.removeAll { $0 === link }
        next(id, node)
        return true
    }
}

extension NWEndpoint {
    /// The endpoints for an address. A link-local address exists on each interface (RFC 4007 §6).
    fileprivate static func candidates(_ endpoint: PeerEndpoint, _ interfaces: some Sequence<NWInterface>)
        -> [NWEndpoint]
    {
        guard let port = NWEndpoint.Port(rawValue: endpoint.port) else { return [] }
        let bytes = Data(endpoint.address)
        if let address = IPv4Address(bytes) { return [.hostPort(host: .ipv4(address), port: port)] }
        guard let address = IPv6Address(bytes) else { return [] }
        guard address.isLinkLocal else { return [.hostPort(host: .ipv6(address), port: port)] }
        return interfaces.compactMap { interface in
            IPv6Address(bytes, interface).map { .hostPort(host: .ipv6($0), port: port) }
        }
    }
}
