import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Streams, resources, certificates and codes between peers")
struct PeerTransferTests {
    private func pair(_ seed: UInt64, options: SessionOptions = SessionOptions()) -> PeerNetwork {
        let network = PeerNetwork(2, seed: seed, options: options)
        network.invite(0, 1)
        network.run(.seconds(1))
        return network
    }

    @Test("A file arrives complete although its links break", arguments: [false, true])
    func file(breaks: Bool) {
        for seed in 0..<10 {
            let network = pair(UInt64(seed))
            let (sender, receiver) = (network.peers[seed % 2], network.peers[1 - seed % 2])
            let bytes = network.random.bytes(700_000)
            let channel = network.call(sender.index) { peer in
                let channel = peer.mesh.offer(
                    ResourceOffer(name: "../a/b.txt", size: UInt64(bytes.count)), to: peer.member(receiver),
                    at: network.now)
                if let channel { peer.files.offered[channel] = bytes }
                return channel
            }
            for _ in 0..<(breaks ? 12 : 0) {
                network.run(.milliseconds(3))
                network.breakRandomWire()
            }
            network.run(.seconds(10))
            #expect(channel.map { sender.files.delivered.contains($0) } == true, "seed \(seed)")
            #expect(receiver.files.complete.values.first == bytes, "seed \(seed)")
        }
    }

    @Test("A file of zero bytes arrives")
    func emptyFile() {
        let network = pair(1)
        network.call(0) { peer in
            let offer = ResourceOffer(name: "e", size: 0)
            if let channel = peer.mesh.offer(offer, to: peer.member(network.peers[1]), at: network.now) {
                peer.files.offered[channel] = []
            }
        }
        network.run(.seconds(1))
        #expect(network.peers[0].files.delivered.count == 1)
        #expect(network.peers[1].files.complete.values.first == [])
    }

    @Test("A stream delivers all bytes in order over broken links, and ends")
    func stream() {
        for seed in 0..<10 {
            let network = pair(UInt64(seed))
            let bytes = network.random.bytes(500_000)
            var rest = bytes[...]
            let channel = network.call(0) {
                $0.mesh.openStream("log", to: $0.member(network.peers[1]), at: network.now)
            }
            guard let channel else {
                Issue.record("no stream")
                return
            }
            while !rest.isEmpty {
                let count = network.call(0) { $0.mesh.write(channel, Array(rest.prefix(100_000)), at: network.now) }
                rest = rest.dropFirst(count)
                network.run(.milliseconds(20))
                if network.random.chance(oneIn: 3) { network.breakRandomWire() }
            }
            network.call(0) { $0.mesh.endStream(channel, at: network.now) }
            network.run(.seconds(5))
            #expect(network.peers[1].streams.values.first == bytes)
            #expect(network.peers[1].endedStreams.count == 1 && network.peers[0].endedStreams.count == 1)
        }
    }

    @Test("A lost member fails its resources and streams before its state")
    func loss() {
        let network = pair(4)
        network.call(0) { peer in
            _ = peer.mesh.openStream("s", to: peer.member(network.peers[1]), at: network.now)
            let offer = ResourceOffer(name: "f", size: nil)
            guard let channel = peer.mesh.offer(offer, to: peer.member(network.peers[1]), at: network.now) else {
                return
            }
            peer.files.offered[channel] = [UInt8](repeating: 1, count: 20 << 20)
        }
        // Let the offer arrive. Then cut the network, so that the content cannot arrive.
        network.run(.milliseconds(6))
        network.parts[1] = 1
        network.run(.seconds(12))
        #expect(network.peers[0].failedStreams.count == 1 && network.peers[1].failedStreams.count == 1)
        #expect(network.peers[1].files.failed.values.contains(.lost))
        #expect(network.peers[0].connected.isEmpty)
    }

    @Test("256 streams whose receiver has not released them are all that can be opened, and others in their place")
    func unreleased() {
        let network = pair(8)
        let receiver = network.peers[1]
        receiver.releasesStreams = false
        #expect(openAll(network, 300) == 256)
        #expect(receiver.endedStreams.count + receiver.failedStreams.count == 256)
        for channel in receiver.streams.keys.sorted(by: { $0.number < $1.number }).prefix(9) {
            network.call(1) { $0.mesh.releaseStream(channel, at: network.now) }
        }
        network.run(.seconds(1))
        receiver.releasesStreams = true
        #expect(openAll(network, 300) == 9)
        #expect(openAll(network, 9) == 9 && receiver.isConnected(network.peers[0].key))
    }

    /// Opens streams, and ends or resets each stream at once. Returns the number of streams that could be opened.
    private func openAll(_ network: PeerNetwork, _ count: Int) -> Int {
        let opened = (0..<count).count { number in
            network.call(0) { peer in
                guard let channel = peer.mesh.openStream("s", to: peer.member(network.peers[1]), at: network.now)
                else { return false }
                if number % 2 == 0 {
                    peer.mesh.endStream(channel, at: network.now)
                } else {
                    peer.mesh.releaseStream(channel, at: network.now)
                }
                return true
            }
        }
        network.run(.seconds(1))
        return opened
    }

    @Test("Calls for a stream of an earlier membership do not touch the stream with its number in the next one")
    func earlierMembership() throws {
        let network = pair(3)
        let two = network.peers[1]
        let first = try openStream(network)
        let incoming = try #require(two.streams.keys.first)
        network.call(0) { $0.mesh.leave($0.session, at: network.now) }
        network.run(.seconds(2))
        network.invite(0, 1)
        network.run(.seconds(2))
        let second = try openStream(network)
        #expect(first.number == second.number)
        network.call(1) { $0.mesh.releaseStream(incoming, at: network.now) }
        network.call(0) { $0.mesh.releaseStream(first, at: network.now) }
        let count = network.call(0) { $0.mesh.write(second, [1, 2], at: network.now) }
        network.run(.seconds(1))
        #expect(count == 2 && Array(two.streams.values) == [[1, 2]] && two.failedStreams.isEmpty)
    }

    private func openStream(_ network: PeerNetwork) throws -> ChannelID {
        let channel = network.call(0) {
            $0.mesh.openStream("s", to: $0.member(network.peers[1]), at: network.now)
        }
        network.run(.seconds(1))
        return try #require(channel)
    }

    @Test("Both users see one code; a confirmation of both verifies, a refusal of one ends the link")
    func codes() {
        for refuses in [false, true] {
            let network = pair(2)
            let (one, two) = (network.peers[0], network.peers[1])
            network.call(0) { $0.mesh.verify($0.member(two), at: network.now) }
            if refuses { network.call(1) { $0.mesh.verify($0.member(one), at: network.now) } }
            network.run(.seconds(1))
            #expect(one.verification[two.key] == two.verification[one.key])
            guard case .compare(let code)? = one.verification[two.key]?.first else {
                Issue.record("no code")
                return
            }
            #expect(code.digits.utf8.count == 6 && code.words.count == 4)
            network.call(0) { $0.mesh.confirm($0.member(two), matches: true, at: network.now) }
            network.call(1) { $0.mesh.confirm($0.member(one), matches: !refuses, at: network.now) }
            network.run(.seconds(2))
            #expect(one.verification[two.key]?.last == (refuses ? .failed : .verified))
            #expect(one.connected.isEmpty == refuses && two.connected.isEmpty == refuses)
        }
    }

    @Test("Both sides judge the other's certificate; one refusal is enough")
    func certificates() {
        for refuses in [false, true] {
            var options = SessionOptions()
            options.judges = true
            options.hasCertificate = true
            let network = pair(9, options: options)
            for peer in network.peers {
                for (link, message) in peer.signatures {
                    network.call(peer.index) {
                        $0.mesh.certify(link, chain: [[1, 2]], proof: message, at: network.now)
                    }
                }
            }
            network.run(.milliseconds(200))
            for peer in network.peers {
                let other = network.peers[1 - peer.index]
                // In this test, the proof is the signed message itself. So it shows that both sides compute the same
                // message.
                #expect(peer.claims[other.key]?.proof == peer.claims[other.key]?.message)
                #expect(peer.connected.isEmpty)
                network.call(peer.index) {
                    $0.mesh.judge($0.member(other), accepts: !refuses || peer.index == 1, at: network.now)
                }
            }
            network.run(.seconds(2))
            #expect(network.peers.allSatisfy { $0.connected.isEmpty == refuses })
            #expect(
                network.peers.allSatisfy {
                    ($0.history.last == "notConnected(CausewayPeerProtocols.PeerReason.notVerified)") == refuses
                })
        }
    }

    @Test("Peers connect by data that they pass over their own discovery; a wrong token is refused")
    func connectionData() throws {
        for isWrong in [false, true] {
            let network = PeerNetwork(2, seed: 6)
            let data = try (0...1).map { index in
                try #require(
                    network.call(index) { $0.mesh.connectionData($0.session, for: network.peers[1 - index].key.id) })
            }
            for index in 0...1 {
                var given = data[1 - index]
                if isWrong { given[given.count - 1] ^= 1 }
                let member = network.call(index) {
                    $0.mesh.connect(
                        $0.session, to: network.peers[1 - index].key.id, data: given, timeout: .seconds(5),
                        at: network.now)
                }
                #expect(member == network.peers[index].member(network.peers[1 - index]))
            }
            network.run(.seconds(8))
            #expect(network.peers.allSatisfy { ($0.connected.count == 1) != isWrong })
            #expect(network.peers.allSatisfy { $0.mesh.linkCount == (isWrong ? 0 : 1) })
        }
    }
}
