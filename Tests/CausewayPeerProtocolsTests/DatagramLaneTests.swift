import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Datagram lanes (CWP/1 §10)")
struct DatagramLaneTests {
    private func pair(_ seed: UInt64 = 1, _ prepare: (PeerNetwork) -> Void = { _ in }) -> PeerNetwork {
        let network = PeerNetwork(2, seed: seed)
        prepare(network)
        network.invite(0, 1)
        network.run(.seconds(1))
        return network
    }

    private func send(_ network: PeerNetwork, _ from: Int, _ message: [UInt8]) -> SendResult {
        network.call(from) { peer in
            peer.mesh.send(message, to: peer.member(network.peers[1 - from]), reliably: false, at: network.now)
        }
    }

    private func report(_ network: PeerNetwork, _ index: Int) -> DatagramLaneReport? {
        network.peers[index].mesh.datagramLane(of: network.peers[index].member(network.peers[1 - index]))
    }

    private func isReady(_ network: PeerNetwork) -> Bool {
        report(network, 0)?.isReady == true && report(network, 1)?.isReady == true
    }

    @Test("Notices are decoded as they were encoded, others are refused; the key is the one that Python computes")
    func notices() throws {
        let token = [UInt8](0..<16)
        for notice in [DatagramNotice.offer(.init(port: 9, token: token)), .ended(token: token, .notVerified)] {
            #expect(try DatagramNotice(notice.frame.payload) == notice)
        }
        for fields in [
            PeerFields(), PeerFields().with(1, UInt16(9)), PeerFields().with(2, token),
            PeerFields().with(1, UInt16(0)).with(2, token), PeerFields().with(1, UInt16(9)).with(2, [1]),
        ] {
            #expect(throws: PeerFields.Malformed.self) { try DatagramNotice(fields.bytes) }
        }
        let secret = DatagramSecret(exporter: [UInt8](repeating: 7, count: 32), token: token)
        #expect(secret.identity == Array("000102030405060708090a0b0c0d0e0f".utf8))
        // The expected bytes come from Python: hmac.new(bytes([7]) * 32, b"cw-peers/1 datagrams" + bytes(range(16)),
        // "sha256").digest()[:8]
        #expect(Array(secret.key.prefix(8)) == [0x6c, 0xe5, 0xfa, 0x7f, 0x8d, 0xa7, 0x1b, 0x9a])
    }

    @Test("Members get a lane, and unreliable messages of up to one datagram travel on it, in both directions")
    func carries() {
        let network = pair()
        #expect(network.peers.map(\.lanes) == [[.ready], [.ready]])
        let messages: [[UInt8]] = [[], [7], [UInt8](repeating: 1, count: 1_199), [UInt8](repeating: 2, count: 1_200)]
        for message in messages {
            for side in 0...1 { #expect(send(network, side, message) == .queued) }
        }
        network.run(.seconds(1))
        for side in 0...1 {
            #expect(Set(network.peers[side].unreliable) == Set(messages))
            // The largest message does not fit into a datagram. It must therefore go over the control link.
            #expect(report(network, side)?.sentCount == 3 && report(network, side)?.receivedCount == 3)
            #expect(report(network, side)?.messageLimit == 1_199)
        }
    }

    @Test(
        "Without UDP, messages take the control link; lanes are tried again at growing intervals, and made when UDP works"
    )
    func blocked() {
        let network = pair { $0.datagrams.isBlocked = true }
        #expect(send(network, 0, [1]) == .queued)
        network.run(.seconds(1))
        #expect(network.peers[1].unreliable == [[1]] && report(network, 0)?.isReady == false)
        network.run(.seconds(600))
        #expect((4...16).contains(network.datagrams.dialCount), "\(network.datagrams.dialCount) dials")
        #expect(network.peers[0].lanes.allSatisfy { $0 == .down(.timedOut) })
        network.datagrams.isBlocked = false
        #expect(network.run(.seconds(70)) { isReady(network) })
    }

    @Test(
        "A lane that stops working is noticed within 6 s, messages then take the control link, and another lane follows"
    )
    func stops() {
        let network = pair()
        network.datagrams.isBlocked = true
        _ = send(network, 1, [1])
        network.run(.seconds(6))
        #expect(report(network, 0)?.isReady == false && report(network, 1)?.isReady == false)
        _ = send(network, 1, [2])
        network.run(.milliseconds(100))
        #expect(network.peers[0].unreliable == [[2]])
        network.datagrams.isBlocked = false
        #expect(network.run(.seconds(15)) { isReady(network) })
    }

    @Test("An idle lane is probed every minute by one side, and lives on")
    func idle() {
        let network = pair()
        let before = network.datagrams.sentCount
        network.run(.seconds(610))
        #expect((18...22).contains(network.datagrams.sentCount - before))
        #expect(network.peers.map(\.lanes) == [[.ready], [.ready]])
    }

    @Test("Loss delays nothing: what arrives arrives at once, and the lane stays", arguments: 0..<20 as Range<UInt64>)
    func loss(seed: UInt64) {
        let network = pair(seed)
        network.datagrams.lossRatio = 5
        for number in 0..<200 as Range<UInt8> {
            _ = send(network, 0, [number])
            network.run(.milliseconds(20))
            if network.peers[1].unreliable.last != [number] { #expect(!network.peers[1].unreliable.contains([number])) }
        }
        #expect((120...199).contains(network.peers[1].unreliable.count))
        #expect(network.peers[0].lanes == [.ready])
    }

    @Test("A lane stays while its control link is replaced", arguments: [LinkEnd.failed, .closedByPeer])
    func survives(_ how: LinkEnd) {
        let network = pair()
        network.breakWires(how)
        network.run(.milliseconds(4))
        _ = send(network, 0, [9])
        network.run(.seconds(3))
        #expect(network.peers[1].unreliable == [[9]] && network.peers.map(\.lanes) == [[.ready], [.ready]])
        #expect(network.datagrams.dialCount == 1)
    }

    @Test("Links that break while a lane is made: there is one in the end", arguments: 0..<40 as Range<UInt64>)
    func races(seed: UInt64) {
        let network = PeerNetwork(2, seed: seed)
        network.invite(0, 1)
        network.run(.seconds(5)) { network.peers.allSatisfy { !$0.connected.isEmpty } }
        var random = SplitMix64(seed: seed)
        for _ in 0..<3 {
            network.run(.milliseconds(random.integer(in: 0...12)))
            network.breakWires(.failed)
        }
        #expect(network.run(.seconds(30)) { isReady(network) }, "\(network.peers.map(\.lanes))")
        #expect(network.peers.allSatisfy { $0.mesh.datagramLaneCount == 1 })
    }

    @Test("A wrong key is refused with its reason, counted, and the messages take the control link")
    func wrongKey() {
        let network = pair { $0.datagrams.hasWrongKeys = true }
        network.run(.seconds(60))
        let offerer = network.peers[1]
        #expect(offerer.lanes.count { $0 == .refused(.notVerified) } == 1)
        #expect(offerer.lanes.contains(.down(.notVerified)) && !offerer.lanes.contains(.ready))
        #expect((report(network, 1)?.refusedCount ?? 0) > 2)
        _ = send(network, 0, [1])
        network.run(.seconds(1))
        #expect(offerer.unreliable == [[1]])
    }

    @Test("A peer without lanes gets no offer")
    func unsupported() {
        let network = PeerNetwork(2, seed: 1, features: [.resume, .lanes, .streams, .verification])
        network.invite(0, 1)
        network.run(.seconds(20))
        #expect(network.datagrams.dialCount == 0 && network.peers.allSatisfy { $0.lanes.isEmpty })
        _ = send(network, 0, [1])
        network.run(.seconds(1))
        #expect(network.peers[1].unreliable == [[1]])
    }

    @Test("A program that takes no messages holds 1 MiB of unreliable ones, also empty ones; then they are dropped")
    func bounded() {
        for size in [0, 1_000] {
            let network = pair()
            network.peers[1].takesMessages = false
            let limit = (1 << 20) / (size + 64)
            for _ in 0..<limit + 50 {
                _ = send(network, 0, [UInt8](repeating: 1, count: size))
                network.run(.milliseconds(6))
            }
            #expect(network.peers[1].unreliable.count == limit)
        }
    }

    @Test("Members that leave close their lanes, and 8 members have 28")
    func closes() {
        let network = PeerNetwork(8, seed: 3)
        for other in 1..<8 { network.invite(0, other) }
        network.run(.seconds(20))
        #expect(network.peers.allSatisfy { $0.connected.count == 7 && $0.mesh.datagramLaneCount == 7 })
        network.call(0) { $0.mesh.leave($0.session, at: network.now) }
        network.run(.seconds(5))
        #expect(network.peers[0].mesh.datagramLaneCount == 0)
        #expect(network.peers.dropFirst().allSatisfy { $0.mesh.datagramLaneCount == 6 })
    }
}
