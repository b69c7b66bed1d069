internal import Causeway
internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

extension NodeCore {
    /// The limits for sending, in bytes. `pieceSize` is the maximum size of one write. `pendingLimit` is the limit for
    /// unsent bytes in the transport.
    private static let pieceSize = 65_536
    private static let pendingLimit = 262_144
    /// The maximum number of concurrent incoming TLS handshakes.
    private static let handshakeLimit = 64

    // MARK: Writing

    mutating func flush(_ id: LinkID, at now: Duration) {
        guard var entry = lines[id] else { return }
        while entry.pendingByteCount < Self.pendingLimit,
            let bytes = mesh.takeOutput(id, atMost: Self.pieceSize, at: now)
        {
            entry.pendingByteCount += bytes.count
            request(.write(entry.link, bytes))
        }
        lines[id] = entry
    }

    mutating func close(_ id: LinkID, at now: Duration) {
        if let race = dials.remove(id) {
            for link in race.running { request(.cancel(link)) }
            return
        }
        guard let entry = lines.removeValue(forKey: id) else { return }
        while let bytes = mesh.takeOutput(id, atMost: Self.pieceSize, at: now) { request(.write(entry.link, bytes)) }
        numbers[ObjectIdentifier(entry.link)] = nil
        request(.end(entry.link))
    }

    // MARK: Accepted connections

    mutating func accept(_ link: PeerLink, _ now: Duration) {
        // Many connections without a finished handshake must not keep other peers out. At the limit, remove one of
        // these connections.
        if handshakes.count >= Self.handshakeLimit {
            let crowded = handshakes.remove(at: crowdedHandshake())
            request(.cancel(crowded))
        }
        handshakes.append(link)
        dials.arrived(at: now)
        request(.accept(link))
    }

    /// Finds the remote address that has the most unfinished handshakes. Returns the index of the oldest of these
    /// handshakes.
    private func crowdedHandshake() -> Int {
        var counts: [[UInt8]: (count: Int, oldest: Int)] = [:]
        for (place, link) in handshakes.enumerated() {
            let address = link.endpoint.peerAddress
            counts[address] = ((counts[address]?.count ?? 0) + 1, counts[address]?.oldest ?? place)
        }
        return counts.values.max { ($0.count, $1.oldest) < ($1.count, $0.oldest) }?.oldest ?? 0
    }

    /// Removes a connection from the list of accepted connections that are in a handshake. Returns `false` if it was
    /// not in the list.
    mutating func endHandshake(_ link: PeerLink) -> Bool {
        guard let index = handshakes.firstIndex(where: { $0 === link }) else { return false }
        handshakes.remove(at: index)
        return true
    }

    private mutating func opened(_ link: PeerLink, _ facts: LinkFacts, _ remote: NWEndpoint?, _ now: Duration) {
        guard endHandshake(link) else { return dialled(link, facts, remote, now) }
        guard let id = mesh.accepted(facts, at: now) else { return request(.cancel(link)) }
        keep(link, remote, id)
    }

    /// Stores a link and the identifier that `PeerMesh` has given to the link.
    mutating func keep(_ link: PeerLink, _ remote: NWEndpoint?, _ id: LinkID) {
        lines[id] = Line(link: link, remote: remote)
        numbers[ObjectIdentifier(link)] = id
    }

    // MARK: Events

    mutating func handle(_ event: PeerLink.Event, of link: PeerLink, _ now: Duration) {
        let name = ObjectIdentifier(link)
        switch event {
        case .opened(let facts, let remote): opened(link, facts, remote, now)
        case .received(let bytes):
            guard let id = numbers[name] else { return }
            mesh.received(id, bytes, at: now)
            request(.read(link))
        case .sent(let count):
            guard let id = numbers[name], lines[id] != nil else { return }
            lines[id]?.pendingByteCount -= count
            flush(id, at: now)
        case .ended: ended(link, .closedByPeer, now)
        case .closed(let isLocalFailure):
            if endHandshake(link) { return }
            if raceLost(link) { return }
            ended(link, isLocalFailure ? .failed : .closedByPeer, now)
        }
    }

    private mutating func ended(_ link: PeerLink, _ end: LinkEnd, _ now: Duration) {
        guard let id = numbers.removeValue(forKey: ObjectIdentifier(link)) else { return }
        lines[id] = nil
        request(.cancel(link))
        mesh.linkEnded(id, end, at: now)
    }
}

extension PeerTransport.Session {
    /// Returns the link properties that `PeerMesh` needs: the TLS exporter value, the peer's key digest, the peer's
    /// address, and whether the peer is on this host.
    func facts(_ remote: NWEndpoint?) -> LinkFacts {
        let key = PeerKeyPair.publicKey(ofCertificate: certificates[0]) ?? []
        return LinkFacts(
            exporter: exporter, fingerprint: PeerKeyPair.digest(key), address: remote?.peerAddress ?? [],
            isLocal: remote?.isLoopback ?? false)
    }
}

extension NWEndpoint {
    /// The endpoint's IP address, as 4 or 16 bytes. Empty if the endpoint has no IP address, for example if it has a
    /// host name.
    fileprivate var peerAddress: [UInt8] {
        guard case .hostPort(let host, _) = self else { return [] }
        switch host {
        case .ipv4(let address): return [UInt8](address.rawValue)
        case .ipv6(let address): return [UInt8](address.rawValue)
        case .name: return []
        @unknown default: return []
        }
    }

    fileprivate var isLoopback: Bool {
        guard case .hostPort(let host, _) = self else { return false }
        switch host {
        case .ipv4(let address): return address.rawValue.first == 127
        case .ipv6(let address): return address == .loopback
        case .name: return false
        @unknown default: return false
        }
    }
}
