internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

extension NodeCore {
    private static let pauses: [Duration] = [.milliseconds(200), .milliseconds(600)]

    mutating func add(_ dial: PeerDial, _ id: LinkID, at now: Duration) {
        // A newly found peer may need a moment until it can be reached, for example while its link comes up. So an
        // attempt for an invitation pauses and tries again. All other attempts are repeated by `PeerMesh`.
        let pauses = dial.purpose == .invitation ? Self.pauses : []
        // Pass no candidates here. They are looked up only when the attempt starts.
        dials.add(id, PeerRace(dial: dial, candidates: [], pauses: pauses), own: mesh.own.key, at: now)
    }

    /// Starts all waiting dials for which there is room. If some dials must still wait, requests another check later.
    mutating func startDials(at now: Duration) {
        while let id = dials.nextToStart(at: now) { request(.beginRound(id)) }
        if let time = dials.timeToLook(at: now) { request(.checkDials(time)) }
    }

    /// Begins to try all candidates, unless the dial has ended in the meantime.
    mutating func beginRound(_ id: LinkID, _ interfaces: ArraySlice<NWInterface>) {
        guard let race = dials[id], race.candidates.isEmpty, !race.isRunning else { return }
        let candidates = candidates(race.dial, interfaces)
        dials[id]?.candidates = candidates
        next(id)
    }

    private func candidates(_ dial: PeerDial, _ interfaces: ArraySlice<NWInterface>) -> [NWEndpoint] {
        let given = dial.endpoints.flatMap { NWEndpoint.candidates($0, interfaces) }
        let found = places.endpoints(of: dial.peer)
        // For an invitation, try the endpoints from discovery first. For all other purposes, try the endpoints in the
        // dial first. They are newer, because they come from another member's introduction or from the broken link.
        return dial.purpose == .invitation ? found + given : given + found
    }

    /// Starts an attempt with the next candidate address. If none is left or running, tries all again after a pause, or
    /// reports that the dial has failed.
    mutating func next(_ id: LinkID) {
        if let endpoint = dials[id]?.takeCandidate(), let race = dials[id] {
            let start = PeerRace.Start(
                endpoint: endpoint, peer: race.dial.peer, count: race.startCount, isLast: race.candidates.isEmpty)
            return request(.dial(id, start))
        }
        guard dials[id]?.isRunning == false else { return }
        if let pause = dials[id]?.takePause() { return request(.pause(id, pause)) }
        dials.remove(id)
        request(.dialFailed(id))
    }

    /// Handles a dialled link that has completed its TLS handshake. The first such link ends its dial, and the dial's
    /// other links are cancelled.
    mutating func dialled(_ link: PeerLink, _ facts: LinkFacts, _ remote: NWEndpoint?, _ now: Duration) {
        guard let id = dials.dial(of: link), let race = dials.remove(id) else { return request(.cancel(link)) }
        for other in race.running where other !== link { request(.cancel(other)) }
        keep(link, remote, id)
        mesh.dialSucceeded(id, facts, at: now)
    }

    /// Handles a closed link. If the link was an attempt of a dial, starts the next attempt of this dial.
    ///
    /// Returns whether the link belonged to a dial.
    mutating func raceLost(_ link: PeerLink) -> Bool {
        guard let id = dials.dial(of: link) else { return false }
        dials[id]?.remove(link)
        next(id)
        return true
    }
}

extension NWEndpoint {
    /// Returns the endpoints to try for an address. A link-local address can exist on each interface (RFC 4007 §6), so
    /// it gives one endpoint per interface.
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
