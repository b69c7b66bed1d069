import CausewayTestKit
import Testing

@testable import CausewayPeerProtocols

@Suite("Pairing of meshes")
struct PeerPairingTests {
    private static let secret = [UInt8](repeating: 9, count: 16)

    private func network(_ policy: PeerPolicy, seed: UInt64 = 1) -> PeerNetwork {
        let network = PeerNetwork(3, seed: seed)
        for peer in network.peers { peer.mesh.trust(PeerPins(policy)) }
        return network
    }

    /// Makes peer 0 show its pairing secret. After that, other peers may prove the secret on their links to peer 0.
    private func show(_ network: PeerNetwork, _ time: Duration = .seconds(60)) {
        network.call(0) { $0.mesh.showPairing(Self.secret, until: network.now + time) }
    }

    private func read(_ network: PeerNetwork, _ reader: Int, _ secret: [UInt8] = Self.secret) {
        let peer = network.peers[0].key
        let isExpected = network.call(reader) {
            $0.mesh.expectPairing(of: peer, secret, until: network.now + .seconds(60), at: network.now)
        }
        #expect(isExpected)
    }

    @Test(
        "The peer that proves the secret joins and both are paired, under any policy and from either side",
        arguments: PeerPolicy.allCases, [false, true])
    func pairs(_ policy: PeerPolicy, showerInvites: Bool) {
        let network = network(policy)
        let (shower, reader) = (network.peers[0], network.peers[1])
        show(network)
        read(network, 1)
        network.invite(showerInvites ? 0 : 1, showerInvites ? 1 : 0)
        network.run(.seconds(2))
        #expect(shower.connected == [reader.key] && reader.connected == [shower.key])
        #expect(shower.pins.map(\.isPaired) == [true] && reader.pins.map(\.isPaired) == [true])
        #expect(shower.mesh.standing(of: reader.key, at: network.now) == .paired)
        #expect(reader.mesh.standing(of: shower.key, at: network.now) == .paired)
        // In later connections, both peers recognize the recorded keys. They no longer need the secret.
        network.call(0) { $0.mesh.leave($0.session, at: network.now) }
        network.run(.seconds(2))
        network.invite(1, 0)
        network.run(.seconds(2))
        #expect(shower.connected == [reader.key])
    }

    @Test("A secret is of use to one peer only")
    func once() {
        let network = network(.paired)
        show(network)
        for reader in 1...2 { read(network, reader) }
        network.invite(1, 0)
        network.run(.seconds(2))
        network.invite(2, 0)
        network.run(.seconds(2))
        #expect(network.peers[0].connected == [network.peers[1].key])
        #expect(network.peers[0].refused.map(\.reason) == [.notVerified])
        #expect(network.peers[2].connected.isEmpty)
    }

    @Test("A wrong secret, an expired one and none are refused with the reason on both sides", arguments: 0..<3)
    func refused(_ row: Int) {
        let network = network(.paired)
        show(network, row == 1 ? .seconds(1) : .seconds(60))
        if row == 1 { network.run(.seconds(2)) }
        // First let the reader trust any key. Otherwise the reader's own policy would prevent the invitation.
        network.peers[1].mesh.trust(PeerPins(.any))
        if row != 2 { read(network, 1, row == 0 ? [UInt8](repeating: 8, count: 16) : Self.secret) }
        network.invite(1, 0)
        network.run(.seconds(2))
        #expect(network.peers[0].refused.map(\.reason) == [.notVerified])
        #expect(network.peers[1].history.last == "\(MemberState.notConnected(.notVerified))")
        #expect(network.peers[0].connected.isEmpty && network.peers[0].pins.isEmpty)
        #expect(network.peers[0].invitations.isEmpty)
    }

    @Test("The reader refuses a peer that does not prove the secret")
    func readerRefuses() {
        let network = network(.any)
        read(network, 1)
        network.invite(1, 0)
        network.run(.seconds(2))
        #expect(network.peers[1].refused.map(\.reason) == [.notVerified])
        #expect(network.peers[0].connected.isEmpty && network.peers[1].pins.isEmpty)
    }

    @Test("While a text is shown, others join as the policy says, and are not paired")
    func others() {
        let network = network(.pinned)
        show(network)
        network.invite(1, 0)
        network.run(.seconds(2))
        #expect(network.peers[0].connected == [network.peers[1].key])
        #expect(network.peers[0].pins.map(\.isPaired) == [false])
        read(network, 2)
        network.invite(2, 0)
        network.run(.seconds(2))
        #expect(network.peers[0].mesh.standing(of: network.peers[2].key, at: network.now) == .paired)
    }

    @Test("Members that a member introduces are held to the policy too")
    func introduced() {
        let network = network(.any)
        network.peers[2].mesh.trust(PeerPins(.known))
        network.call(2) { $0.mesh.pin(network.peers[0].key) }
        network.invite(0, 1)
        network.run(.seconds(2))
        network.invite(0, 2)
        network.run(.seconds(15))
        #expect(network.peers[2].connected == [network.peers[0].key])
        #expect(network.peers[0].connected.count == 2)
    }

    @Test("An invitation to a peer that the policy refuses ends at once with the reason")
    func inviting() {
        let network = network(.known)
        network.invite(0, 1)
        network.run(.milliseconds(1))
        #expect(network.peers[0].history == ["\(MemberState.notConnected(.notVerified))"])
        network.call(0) { $0.mesh.pin(PeerKey(id: network.peers[2].key.id, high: 1, low: 1)) }
        network.invite(0, 2)
        network.run(.milliseconds(1))
        #expect(network.peers[0].history.last == "\(MemberState.notConnected(.identityChanged))")
    }

    @Test("Users who confirm the same code are paired")
    func compared() {
        let network = network(.pinned)
        network.invite(0, 1)
        network.run(.seconds(2))
        let (one, two) = (network.peers[0], network.peers[1])
        network.call(0) { $0.mesh.verify($0.member(two), at: network.now) }
        network.run(.seconds(1))
        network.call(0) { $0.mesh.confirm($0.member(two), matches: true, at: network.now) }
        network.call(1) { $0.mesh.confirm($0.member(one), matches: true, at: network.now) }
        network.run(.seconds(1))
        #expect(one.pins.map(\.isPaired) == [false, true] && two.pins.map(\.isPaired) == [false, true])
    }

    @Test("A peer that proved the shown secret counts as paired until the secret's deadline")
    func holder() {
        let network = network(.any)
        network.peers[0].answersInvitations = nil
        show(network, .seconds(5))
        read(network, 1)
        network.invite(1, 0)
        network.run(.seconds(2))
        let standing = { network.peers[0].mesh.standing(of: network.peers[1].key, at: network.now) }
        #expect(network.peers[0].invitations.count == 1 && standing() == .paired)
        network.run(.seconds(3))
        #expect(network.peers[0].invitations.count == 1 && standing() == .unknown)
    }

    @Test("An expectation that has ended does not make the accepter prove the secret that it shows")
    func endedExpectation() {
        let (own, peer) = (PeerKey(id: 1, high: 1, low: 1), PeerKey(id: 2, high: 2, low: 2))
        let proof = PairingTable.Proof(exporter: [1], isDialler: false, prover: own, verifier: peer)
        var table = PairingTable()
        table.show(Self.secret, until: .seconds(60))
        let isExpected = table.expect(peer, [1], until: .seconds(1), at: .zero)
        #expect(isExpected && table.proof(proof, isProven: false, at: .zero) == proof.code([1]))
        #expect(table.proof(proof, isProven: false, at: .seconds(1)).isEmpty)
        #expect(table.proof(proof, isProven: true, at: .seconds(1)) == proof.code(Self.secret))
    }

    @Test("A proof is bound to the connection, the direction and both keys")
    func binding() {
        let (one, two) = (PeerKey(id: 1, high: 1, low: 1), PeerKey(id: 2, high: 2, low: 2))
        let proof = PairingTable.Proof(exporter: [1], isDialler: true, prover: one, verifier: two)
        var others = [proof, proof, proof]
        others[0].exporter = [2]
        others[1].isDialler = false
        (others[2].prover, others[2].verifier) = (two, one)
        #expect(!others.map { $0.code(Self.secret) }.contains(proof.code(Self.secret)))
        #expect(proof.code(Self.secret) != proof.code([1]))
    }
}
