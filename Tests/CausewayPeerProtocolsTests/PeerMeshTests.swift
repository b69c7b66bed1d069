import CausewayPeerProtocols
import CausewayTestKit
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Peer mesh")
struct PeerMeshTests {
    @Test("Two peers connect, exchange messages in order, and leave")
    func twoPeers() {
        let network = PeerNetwork(2, seed: 1)
        let (one, two) = (network.peers[0], network.peers[1])
        network.invite(0, 1)
        #expect(network.run(.seconds(1)) { one.connected == [two.key] && two.connected == [one.key] })
        for number in 0..<200 {
            let result = network.call(0) {
                $0.mesh.send([UInt8(number)], to: $0.member(two), reliably: true, at: network.now)
            }
            #expect(result == .queued)
        }
        let long = [UInt8](repeating: 9, count: 5 << 20)
        _ = network.call(1) { $0.mesh.send(long, to: $0.member(one), reliably: true, at: network.now) }
        network.run(.seconds(1))
        #expect(two.inbox[one.key] == (0..<200).map { [UInt8($0)] })
        #expect(one.inbox[two.key] == [long])
        network.call(0) { $0.mesh.leave($0.session, at: network.now) }
        network.run(.seconds(2))
        #expect(one.connected.isEmpty && two.connected.isEmpty)
        #expect(two.history.last == "notConnected(CausewayPeerProtocols.PeerReason.left)")
        #expect(one.mesh.linkCount == 0 && two.mesh.linkCount == 0)
    }

    @Test("Messages that are queued when a peer leaves arrive, also if they exceed the window")
    func leaveWithQueue() {
        let network = PeerNetwork(2, seed: 3)
        let (one, two) = (network.peers[0], network.peers[1])
        network.invite(0, 1)
        network.run(.seconds(1))
        let message = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<20 {
            _ = network.call(0) { $0.mesh.send(message, to: $0.member(two), reliably: true, at: network.now) }
        }
        network.call(0) { $0.mesh.leave($0.session, at: network.now) }
        network.run(.seconds(2))
        #expect(two.inbox[one.key]?.count == 20)
        #expect(two.history.last == "notConnected(CausewayPeerProtocols.PeerReason.left)")
        #expect(one.mesh.linkCount == 0 && two.mesh.linkCount == 0)
    }

    @Test("Both invite 1,000 times: connected each time, at most one question each, no other state")
    func bothInvite() {
        for seed in 0..<1_000 {
            let network = PeerNetwork(2, seed: UInt64(seed))
            let (one, two) = (network.peers[0], network.peers[1])
            network.invite(0, 1)
            network.run(.milliseconds(seed % 40))
            network.invite(1, 0)
            network.run(.seconds(3))
            let expected = ["connecting", "connected"]
            guard one.history == expected, two.history == expected, one.mesh.linkCount == 1, two.mesh.linkCount == 1
            else {
                Issue.record("seed \(seed): \(one.history) \(two.history) \(one.mesh.linkCount) \(two.mesh.linkCount)")
                return
            }
            #expect(one.invitations.count <= 1 && two.invitations.count <= 1, "seed \(seed)")
            #expect(one.invitations.count + two.invitations.count >= 1, "seed \(seed)")
        }
    }

    @Test(
        "Both invite, and one program accepts: connected at once, also if the other declines or never answers",
        arguments: [nil, false])
    func bothInviteOneAccepts(other answer: Bool?) {
        for seed in 0..<200 {
            let network = PeerNetwork(2, seed: UInt64(seed))
            let (one, two) = (network.peers[0], network.peers[1])
            one.answersInvitations = answer
            network.invite(seed % 2, 1 - seed % 2)
            network.run(.milliseconds(seed % 40))
            network.invite(1 - seed % 2, seed % 2)
            let isConnected = network.run(.seconds(1)) { one.connected == [two.key] && two.connected == [one.key] }
            #expect(isConnected, "seed \(seed): \(one.history) \(two.history)")
            network.run(.seconds(40))
            #expect(one.connected == [two.key] && one.mesh.linkCount == 1, "seed \(seed): \(one.history)")
            #expect(two.connected == [one.key] && two.mesh.linkCount == 1, "seed \(seed): \(two.history)")
        }
    }

    @Test("Both invite, and the answer is no: each gets one refusal")
    func bothInviteDeclined() {
        for seed in 0..<50 {
            let network = PeerNetwork(2, seed: UInt64(seed))
            for peer in network.peers { peer.answersInvitations = false }
            network.invite(0, 1)
            network.run(.milliseconds(seed % 20))
            network.invite(1, 0)
            network.run(.seconds(3))
            for peer in network.peers {
                let declines = peer.history.filter { $0 == "notConnected(CausewayPeerProtocols.PeerReason.declined)" }
                #expect(declines.count >= 1 && declines.count == peer.history.count, "seed \(seed)")
                #expect(peer.mesh.linkCount == 0)
            }
        }
    }

    @Test("A peer that is invited and introduced at the same time joins at once, in any order of events")
    func invitedAndIntroduced() {
        // With some of these seeds, an introduction arrives before an answer that was sent earlier. With others, an
        // invitation arrives before an earlier introduction.
        for seed in Array(0..<100) + [170, 173, 220] {
            let network = PeerNetwork(3, seed: UInt64(seed))
            network.latency = 1...(seed % 4 * 10 + 5)
            network.invite(0, 1)
            network.run(.milliseconds(seed % 3 * 100))
            network.invite(0, 2)
            network.run(.milliseconds(seed % 97))
            network.invite(1, 2)
            if seed % 5 == 0 { network.invite(2, 1) }
            let isComplete = network.run(.seconds(1)) { network.peers.allSatisfy { $0.connected.count == 2 } }
            #expect(isComplete, "seed \(seed): \(network.peers.map(\.history))")
            network.run(.seconds(5))
            #expect(network.peers.allSatisfy { $0.connected.count == 2 && $0.mesh.linkCount == 2 }, "seed \(seed)")
        }
    }

    @Test("32 peers that each invite their neighbour form one mesh in 5 s")
    func largeMesh() {
        let network = PeerNetwork(32, seed: 7)
        for index in 1..<32 { network.invite(index - 1, index) }
        let isComplete = network.run(.seconds(5)) { network.peers.allSatisfy { $0.connected.count == 31 } }
        #expect(isComplete, "\(network.peers.map(\.connected.count))")
        network.run(.seconds(5))
        #expect(network.peers.allSatisfy { $0.connected.count == 31 && $0.mesh.linkCount == 31 })
        #expect(network.peers.allSatisfy { $0.connectCounts.values.allSatisfy { $0 == 1 } })
    }

    @Test("A broken link is replaced; no message is lost, doubled or out of order, and no loss is reported")
    func resumption() {
        for seed in 0..<40 {
            let network = PeerNetwork(3, seed: UInt64(seed))
            network.invite(0, 1)
            network.invite(0, 2)
            network.run(.seconds(2))
            #expect(network.peers.allSatisfy { $0.connected.count == 2 })
            for round in 0..<30 {
                let (from, to) = (network.peers[round % 3], network.peers[(round + 1 + round % 2) % 3])
                network.call(from.index) { peer in
                    for _ in 0..<10 { peer.sendNumbered(to: to, padding: round * 100, at: network.now) }
                }
                network.run(.milliseconds(round))
                network.breakRandomWire()
                network.run(.milliseconds(300))
            }
            network.run(.seconds(5))
            for peer in network.peers {
                #expect(!peer.history.contains { $0.hasPrefix("notConnected") }, "seed \(seed): \(peer.history)")
                for other in network.peers where other !== peer {
                    #expect(peer.counters.sent[other.key] == other.counters.received[peer.key], "seed \(seed)")
                }
            }
        }
    }

    @Test("A message to several members is refused for all of them while the queue of one is full")
    func fullQueue() {
        let network = PeerNetwork(3, seed: 5)
        for index in 1...2 { network.invite(0, index) }
        #expect(network.run(.seconds(2)) { network.peers.allSatisfy { $0.connected.count == 2 } })
        let both = [network.peers[0].member(network.peers[1]), network.peers[0].member(network.peers[2])]
        // Four such messages, with the overhead of each, fill the queue of 64 MiB.
        let message = [UInt8](repeating: 1, count: PeerLimits.message - PeerLimits.messageOverhead)
        let tooLong = [UInt8](repeating: 1, count: PeerLimits.message + 1)
        let results = network.call(0) { peer in
            let filled = (0..<8).map { _ in peer.mesh.send(message, to: both[0], reliably: true, at: network.now) }
            let refused = peer.mesh.send([2], toAll: both, reliably: true, at: network.now)
            let dropped = peer.mesh.send([2], toAll: both, reliably: false, at: network.now)
            let long = peer.mesh.send(tooLong, toAll: both, reliably: true, at: network.now)
            return (filled.contains(.full), refused, dropped, long)
        }
        #expect(results == (true, .full, .queued, .tooLarge))
        #expect(network.peers[0].mesh.queuedByteCount(both[1]) <= 1)
        let foreign = [both[1], MemberID(both[0].session, network.peers[0].key)]
        let unknown = network.call(0) { $0.mesh.send([2], toAll: foreign, reliably: true, at: network.now) }
        #expect(unknown == .notConnected)
    }

    @Test("Random lives keep the order of events and agree at the end", arguments: 0..<8)
    func randomLives(part: Int) {
        // The script `Scripts/peer-seeds` runs this test with more seeds.
        let first = environment("CAUSEWAY_PEER_FIRST") ?? 0
        let total = environment("CAUSEWAY_PEER_SEEDS") ?? 32
        for seed in stride(from: first + part, to: first + total, by: 8) {
            if environment("CAUSEWAY_PEER_TRACE") != nil { print("seed \(seed)") }
            var scenario = PeerScenario(seed: UInt64(seed), count: environment("CAUSEWAY_PEER_COUNT"))
            scenario.run(steps: 60)
        }
    }

    private func environment(_ name: String) -> Int? {
        unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
    }
}
