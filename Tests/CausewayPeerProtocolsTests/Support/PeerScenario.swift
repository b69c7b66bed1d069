import CausewayPeerProtocols
import CausewayTestKit
import Testing

/// Simulates random events among a few peers: invitations, messages, streams, files, broken connections, partitions,
/// leaves. Each event is checked against the rules of event order; see ``SimulatedPeer``.
struct PeerScenario {
    let network: PeerNetwork
    private let seed: UInt64
    private var random: SplitMix64

    init(seed: UInt64, count: Int? = nil) {
        var start = SplitMix64(seed: seed)
        let size = start.integer(in: 2...5)
        let limit = start.integer(in: 4...8)
        network = PeerNetwork(count ?? size, seed: seed, limit: count ?? limit)
        network.dialLoss = start.chance(oneIn: 2) ? 6 : 0
        network.pieceSize = start.chance(oneIn: 2) ? 1 : 64 << 10
        random = start
        self.seed = seed
    }

    private func expect(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { Issue.record("seed \(seed): \(message()); \(network.peers.map { $0.history.suffix(10) })") }
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            act()
            network.run(.milliseconds(random.integer(in: 0...400)))
        }
        // The network works again. So all pending operations must end within a minute.
        network.parts = network.parts.map { _ in 0 }
        network.dialLoss = 0
        network.run(.seconds(60))
        check()
    }

    private mutating func act() {
        let count = network.peers.count
        let one = random.integer(in: 0...count - 1)
        let other = (one + random.integer(in: 1...max(1, count - 1))) % count
        guard one != other else { return }
        let (from, to) = (network.peers[one], network.peers[other])
        switch random.integer(in: 0...15) {
        case 0...2: network.invite(one, other)
        case 3:
            network.invite(one, other)
            network.invite(other, one)
        case 4...7:
            let sizes = (0..<random.integer(in: 1...20)).map { _ in
                random.chance(oneIn: 10) ? 40_000 : random.integer(in: 0...50)
            }
            network.call(one) { peer in
                for size in sizes { peer.sendNumbered(to: to, padding: size, at: network.now) }
            }
        case 8: network.breakRandomWire()
        case 9: network.parts[one] = network.parts[one] == 0 ? 1 : 0
        case 10: network.call(one) { $0.mesh.networkChanged(at: network.now) }
        case 11: if random.chance(oneIn: 3) { network.call(one) { $0.mesh.leave($0.session, at: network.now) } }
        case 12, 13: stream(from, to)
        case 14: file(from, to)
        default: cancel(from)
        }
    }

    private mutating func stream(_ from: SimulatedPeer, _ to: SimulatedPeer) {
        let bytes = [UInt8](repeating: 3, count: random.integer(in: 0...600_000))
        network.call(from.index) { peer in
            guard let channel = peer.mesh.openStream("s", to: peer.member(to), at: network.now) else { return }
            _ = peer.mesh.write(channel, bytes, at: network.now)
            peer.mesh.endStream(channel, at: network.now)
        }
    }

    private mutating func file(_ from: SimulatedPeer, _ to: SimulatedPeer) {
        let bytes = random.bytes(random.integer(in: 0...200_000))
        network.call(from.index) { peer in
            let offer = ResourceOffer(name: "f", size: UInt64(bytes.count))
            guard let channel = peer.mesh.offer(offer, to: peer.member(to), at: network.now) else { return }
            // A member that returns can have new channels with the same numbers as earlier channels. So remove the
            // earlier entry.
            peer.files.delivered.remove(channel)
            peer.files.offered[channel] = bytes
        }
    }

    private mutating func cancel(_ peer: SimulatedPeer) {
        guard let channel = peer.files.offered.keys.randomElement(using: &random) else { return }
        network.call(peer.index) { $0.mesh.cancelResource(channel, at: network.now) }
    }

    /// Checks that both sides of each pair of peers have the same view, and that nothing is left over.
    private func check() {
        for one in network.peers {
            for other in network.peers where other !== one {
                let (here, there) = (one.connected.contains(other.key), other.connected.contains(one.key))
                expect(here == there, "\(one.index) and \(other.index) disagree: \(here), \(there)")
                expect(here == one.isConnected(other.key), "the program's view differs")
                guard here else { continue }
                expect(
                    one.counters.sent[other.key] == other.counters.received[one.key],
                    "\(one.index) sent \(one.counters.sent[other.key] ?? -1), \(other.index) got \(other.counters.received[one.key] ?? -1)"
                )
            }
            // Each member has one control link and at most two further links.
            expect(one.mesh.linkCount <= 3 * one.connected.count, "\(one.mesh.linkCount) links")
        }
    }
}
