import CausewayTestKit
import Testing

@testable import CausewayPeerProtocols

@Suite("Connection data of a program's own discovery")
struct PeerConnectionDataTests {
    private func data(_ network: PeerNetwork, by index: Int, for peer: UInt64) throws -> [UInt8] {
        try #require(network.call(index) { $0.mesh.connectionData($0.session, for: peer) })
    }

    private func connect(_ network: PeerNetwork, _ index: Int, to other: Int, _ data: [UInt8]) -> MemberID? {
        network.call(index) {
            $0.mesh.connect(
                $0.session, to: network.peers[other].key.id, data: data, timeout: .seconds(5), at: network.now)
        }
    }

    @Test("A peer that the policy refuses is reported at once, as are the local peer and one beyond the limit")
    func refused() throws {
        let network = PeerNetwork(3, seed: 3, limit: 2)
        let (own, other) = (network.peers[0], network.peers[1])
        let reasons = { own.history.suffix(1) }
        network.peers[0].mesh.trust(PeerPins(.known))
        let foreign = try data(network, by: 1, for: own.key.id)
        #expect(connect(network, 0, to: 1, foreign) == own.member(other))
        #expect(reasons() == ["\(MemberState.notConnected(.notVerified))"])
        let mirrored = try data(network, by: 0, for: own.key.id)
        #expect(connect(network, 0, to: 0, mirrored) == own.member(own))
        #expect(own.history.count == 2)
        network.peers[0].mesh.trust(PeerPins(.any))
        #expect(connect(network, 0, to: 0, mirrored) == own.member(own))
        #expect(reasons() == ["\(MemberState.notConnected(.duplicate))"])
        network.invite(0, 1)
        network.run(.seconds(2))
        #expect(own.connected == [other.key])
        let third = try data(network, by: 2, for: own.key.id)
        #expect(connect(network, 0, to: 2, third) == own.member(network.peers[2]))
        #expect(reasons() == ["\(MemberState.notConnected(.full))"])
        // Connect to a peer that is already a member. This is not a failure.
        let count = own.history.count
        #expect(connect(network, 0, to: 1, foreign) == own.member(other) && own.history.count == count)
    }

    @Test(
        "Data stays valid for the 128 peers for which it was requested last",
        arguments: [(0, 127, true), (200, 127, true), (0, 128, false)])
    func tokens(before: Int, after: Int, isValid: Bool) throws {
        let network = PeerNetwork(2, seed: 5)
        var made: [[UInt8]] = []
        for index in 0...1 {
            for number in 0..<before { _ = try data(network, by: index, for: UInt64(number)) }
            made.append(try data(network, by: index, for: network.peers[1 - index].key.id))
            for number in 0..<after { _ = try data(network, by: index, for: UInt64(1_000 + number)) }
        }
        for index in 0...1 { _ = connect(network, index, to: 1 - index, made[1 - index]) }
        network.run(.seconds(8))
        #expect(network.peers.allSatisfy { ($0.connected.count == 1) == isValid })
        #expect(network.peers.allSatisfy { $0.history.isEmpty == false })
    }

    @Test("Data that is requested again is the same, and counts as new")
    func renewed() throws {
        var tokens = ConnectionTokens()
        for peer in 0..<128 as Range<UInt64> { tokens.keep([UInt8(peer)], for: peer) }
        tokens.keep([0], for: 0)
        tokens.keep([200], for: 200)
        #expect(tokens[0] == [0] && tokens[1] == nil && tokens[2] == [2] && tokens[200] == [200])
        let network = PeerNetwork(1, seed: 1)
        #expect(try data(network, by: 0, for: 9) == data(network, by: 0, for: 9))
        network.call(0) { $0.mesh.closeSession($0.session, at: network.now) }
        #expect(network.call(0) { $0.mesh.connectionData($0.session, for: 9) } == nil)
    }

    @Test("The longest time limits that a program can give make no difference to who joins")
    func longestLimits() throws {
        let longest = Duration.seconds(Int64.max) * 18
        let network = PeerNetwork(3, seed: 2)
        network.invite(0, 1, timeout: longest)
        let made = try (0...1).map { try data(network, by: 2 * $0, for: network.peers[2 - 2 * $0].key.id) }
        for (index, other) in [(0, 2), (2, 0)] {
            network.call(index) {
                _ = $0.mesh.connect(
                    $0.session, to: network.peers[other].key.id, data: made[other / 2], timeout: longest,
                    at: network.now)
            }
        }
        network.run(.seconds(10))
        #expect(network.peers.allSatisfy { $0.connected.count == 2 })
    }
}
