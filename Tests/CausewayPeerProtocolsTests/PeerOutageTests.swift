import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Peer mesh: outages")
struct PeerOutageTests {
    @Test("A link that is down for 3 s is not noticed; a partition of 60 s is reported within 10 s")
    func partition() {
        let network = PeerNetwork(2, seed: 3)
        let (one, two) = (network.peers[0], network.peers[1])
        network.invite(0, 1)
        network.run(.seconds(1))
        network.parts[1] = 1
        network.call(0) { $0.sendNumbered(to: two, padding: 10, at: network.now) }
        network.run(.seconds(3))
        network.parts[1] = 0
        #expect(network.run(.seconds(1)) { two.counters.received[one.key] == 1 })
        #expect(one.history == ["connecting", "connected"])
        network.run(.seconds(5))
        network.parts[1] = 1
        #expect(network.run(.seconds(10)) { one.connected.isEmpty && two.connected.isEmpty })
        network.run(.seconds(50))
        network.parts[1] = 0
        network.invite(1, 0)
        #expect(network.run(.seconds(2)) { one.connected == [two.key] })
    }

    @Test("A mesh in two parts for 60 s: told within 10 s on both sides, and one invitation joins the parts within 2 s")
    func dividedMesh() {
        for seed in 0..<10 {
            let network = PeerNetwork(6, seed: UInt64(seed))
            for index in 1..<6 { network.invite(0, index) }
            #expect(network.run(.seconds(3)) { network.peers.allSatisfy { $0.connected.count == 5 } })
            for index in 3..<6 { network.parts[index] = 1 }
            #expect(network.run(.seconds(10)) { network.peers.allSatisfy { $0.connected.count == 2 } }, "seed \(seed)")
            network.run(.seconds(50))
            #expect(network.peers.allSatisfy { $0.connected.count == 2 })
            for index in 3..<6 { network.parts[index] = 0 }
            network.invite(seed % 3, 3 + seed / 4)
            let isWhole = network.run(.seconds(2)) { network.peers.allSatisfy { $0.connected.count == 5 } }
            #expect(isWhole, "seed \(seed): \(network.peers.map(\.connected.count))")
        }
    }

    @Test("A link that recovers while it is being replaced: no message is lost, doubled or out of order")
    func replacedWhileAlive() {
        for seed in 0..<30 {
            let network = PeerNetwork(2, seed: UInt64(seed))
            network.latency = 1...20
            network.invite(seed % 2, 1 - seed % 2)
            network.run(.seconds(1))
            network.parts[1] = 1
            network.run(.milliseconds(5_000 + seed * 37 % 2_000))
            network.parts[1] = 0
            for round in 0..<60 {
                if round % 20 == 19 { network.breakWires(seed % 3 == 0 ? .failed : .closedByPeer) }
                for one in 0...1 {
                    network.call(one) { $0.sendNumbered(to: network.peers[1 - one], padding: 10, at: network.now) }
                }
                network.run(.milliseconds(10))
            }
            network.run(.seconds(5))
            for one in 0...1 {
                let (peer, other) = (network.peers[one], network.peers[1 - one])
                #expect(!peer.history.contains { $0.hasPrefix("notConnected") }, "seed \(seed): \(peer.history)")
                #expect(peer.counters.sent[other.key] == 60, "seed \(seed)")
                #expect(other.counters.received[peer.key] == 60, "seed \(seed)")
            }
        }
    }

    @Test("A killed peer is reported within 8 s")
    func killed() {
        let network = PeerNetwork(2, seed: 5)
        network.invite(0, 1)
        network.run(.seconds(1))
        network.breakWires(.closedByPeer)
        network.peers[1].isOff = true
        #expect(network.run(.seconds(8)) { network.peers[0].connected.isEmpty })
    }

    @Test("Eight peers, all to all, across an outage of 3 s: no message is lost, doubled or out of order")
    func flap() {
        let network = PeerNetwork(8, seed: 11)
        for index in 1..<8 { network.invite(0, index) }
        #expect(network.run(.seconds(3)) { network.peers.allSatisfy { $0.connected.count == 7 } })
        for round in 0..<30 {
            if round == 10 { network.parts = (0..<8).map { $0 } }
            if round == 11 { network.run(.seconds(3)) }
            if round == 11 { network.parts = network.parts.map { _ in 0 } }
            for one in network.peers {
                network.call(one.index) { peer in
                    for other in network.peers where other !== peer {
                        for _ in 0..<10 { peer.sendNumbered(to: other, padding: 100, at: network.now) }
                    }
                }
            }
            network.run(.milliseconds(10))
        }
        network.run(.seconds(3))
        for one in network.peers {
            #expect(one.connectCounts.values.allSatisfy { $0 == 1 } && one.connected.count == 7)
            for other in network.peers where other !== one {
                #expect(one.counters.sent[other.key] == 300 && other.counters.received[one.key] == 300)
            }
        }
    }
}
