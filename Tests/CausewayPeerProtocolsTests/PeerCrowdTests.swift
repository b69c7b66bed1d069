import CausewayPeerProtocols
import CausewayTestKit
import Testing

/// Tests with more peers than one session may have.
@Suite("Peer crowd")
struct PeerCrowdTests {
    @Test(
        "All invite all in sessions with too few places: no session exceeds its limit, and no peer is blamed",
        arguments: 0..<3)
    func full(seed: UInt64) {
        let network = PeerNetwork(12, seed: seed, limit: 5)
        for one in 0..<12 {
            for other in 0..<12 where other != one { network.invite(one, other) }
            network.run(.milliseconds(Int(seed) * 10))
        }
        // Run for 20 seconds, which is longer than a link waits for its announcement.
        network.run(.seconds(20))
        let blame: [PeerReason] = [.protocolViolation, .tooMuch, .identityChanged, .notVerified]
        let unjust = Set(blame.map { "notConnected(CausewayPeerProtocols.PeerReason.\($0))" })
        for peer in network.peers {
            #expect(unjust.isDisjoint(with: peer.history), "\(peer.history)")
            #expect(peer.connected.count <= 4)
        }
        #expect(network.peers.contains { $0.connected.count == 4 })
    }
}
