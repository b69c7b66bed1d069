import Causeway
import CausewayPeers
import CausewaySystem
import Foundation
import Testing

extension Loopback {
    @Suite("Peers: unreliable messages over UDP")
    struct PeerDatagramTests {
        /// Connects two peers in one session. The first peer, Ann, opens the datagram connections, through `relay` if
        /// one is given.
        private func pair(_ host: NWEndpoint.Host = .ipv4(.loopback), _ relay: UDPRelay? = nil)
            async throws
            -> (PeerProbe, PeerProbe)
        {
            let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
            if let relay { ann.node.detourDatagrams { relay.detour($0) } }
            try await ann.meet(bob, host: host)
            ann.invite(bob)
            try await ann.seen.first { $0 == .connected("Bob") }
            try await bob.seen.first { $0 == .connected("Ann") }
            return (ann, bob)
        }

        private func readyPair(_ host: NWEndpoint.Host = .ipv4(.loopback), _ relay: UDPRelay? = nil)
            async throws
            -> (PeerProbe, PeerProbe)
        {
            let (ann, bob) = try await pair(host, relay)
            for peer in [ann, bob] { #expect(try await peer.lanes.next() == .ready) }
            return (ann, bob)
        }

        private func send(_ text: String, _ from: PeerProbe, to other: PeerProbe) throws {
            try from.group?.send(Data(text.utf8), to: [other.me], .unreliable)
        }

        @Test(
            "They travel on a DTLS lane in both directions, and those that exceed a datagram on the link",
            arguments: [false, true])
        func carries(_ isSix: Bool) async throws {
            let relay = try await UDPRelay()
            let (ann, bob) = try await readyPair(isSix ? .ipv6(.loopback) : .ipv4(.loopback), relay)
            let before = relay.forwardedCount
            let texts = Set((0..<60).map { "message \($0)" })
            for text in texts {
                try send(text, ann, to: bob)
                try send(text, bob, to: ann)
            }
            for (peer, name) in [(ann, "Bob"), (bob, "Ann")] {
                var received: Set<String> = []
                for _ in texts {
                    guard case .message(let text, name) = try await peer.seen.next() else { break }
                    received.insert(text)
                }
                #expect(received == texts)
            }
            #expect(relay.forwardedCount - before >= 120)
            let large = String(repeating: "x", count: 40_000)
            try send(large, ann, to: bob)
            #expect(try await bob.seen.next() == .message(large, from: "Ann"))
            let report = try #require(ann.group?.datagramReport(bob.me))
            #expect(
                report.sentCount == 60 && report.receivedCount == 60
                    && (1_000...16_384).contains(report.messageLimit))
            ann.close()
            try await bob.seen.first { $0 == .notConnected("Ann", PeerFailure(.left)) }
            #expect(bob.group?.datagramReport(ann.me) == nil)
            bob.close()
            relay.cancel()
        }

        @Test("A lost datagram delays no other message, reliable or not")
        func loss() async throws {
            let relay = try await UDPRelay()
            let (ann, bob) = try await readyPair(.ipv4(.loopback), relay)
            relay.setDrops { $0.count > 600 }
            let padding = String(repeating: "-", count: 600)
            for number in 0..<40 {
                try send("\(number)", ann, to: bob)
                try send("\(number)" + padding, ann, to: bob)
            }
            var received: Set<String> = []
            for _ in 0..<40 {
                guard case .message(let text, "Ann") = try await bob.seen.next() else { break }
                received.insert(text)
            }
            #expect(received == Set((0..<40).map { "\($0)" }))
            _ = try await relay.dropped.next(40)
            try ann.send("reliable", to: bob)
            #expect(try await bob.seen.next() == .message("reliable", from: "Ann"))
            #expect(ann.lanes.history == [.ready])
            for peer in [ann, bob] { peer.close() }
            relay.cancel()
        }

        @Test("Where UDP is blocked, they travel on the link")
        func blocked() async throws {
            let relay = try await UDPRelay { _ in true }
            let (ann, bob) = try await pair(.ipv4(.loopback), relay)
            _ = try await relay.dropped.next()
            try send("there", ann, to: bob)
            #expect(try await bob.seen.next() == .message("there", from: "Ann"))
            try send("back", bob, to: ann)
            #expect(try await ann.seen.next() == .message("back", from: "Bob"))
            #expect(ann.group?.datagramReport(bob.me)?.sentCount == 0 && relay.forwardedCount == 0)
            for peer in [ann, bob] { peer.close() }
            relay.cancel()
        }

        @Test(
            "A8: hosts with a wrong key, a foreign token or garbage are refused, and the member still gets its lane"
        )
        func strangers() async throws {
            let relay = try await UDPRelay { _ in true }
            let foreign = LockedValue<[NWConnection]>([])
            let ends = Mailbox<Bool>()
            // Each attempt has another port, for a few seconds. On a busy machine, the first port can be closed
            // before it gets the datagrams of the foreign hosts.
            relay.whenDialled { port in
                let connections = Self.foreignHosts(to: port, ends)
                foreign.withLock { $0 += connections }
            }
            let (ann, bob) = try await pair(.ipv4(.loopback), relay)
            try await bob.lanes.first(within: Self.patience) { $0 == .refused(PeerFailure(.unverified)) }
            relay.whenDialled { _ in }
            #expect(try await ends.next() == false && !ends.history.contains(true))
            #expect((bob.group?.datagramReport(ann.me)?.refusedCount ?? 0) > 0)
            // The relay has dropped the first datagrams. From now on, it passes datagrams on.
            relay.setDrops { _ in false }
            try await bob.lanes.first(within: Self.patience) { $0 == .ready }
            try await ann.lanes.first { $0 == .ready }
            try send("inside", ann, to: bob)
            #expect(try await bob.seen.next() == .message("inside", from: "Ann"))
            for peer in [ann, bob] { peer.close() }
            for connection in foreign.withLock({ $0 }) { connection.forceCancel() }
            relay.cancel()
        }

        /// How long to wait for an attempt. The pauses between two attempts grow to a minute.
        private static let patience = Duration.seconds(600)

        /// Starts connections of hosts that send garbage, and one with a foreign key and identity. Notes in `ends`
        /// whether that one gets ready.
        private static func foreignHosts(to port: NWEndpoint, _ ends: Mailbox<Bool>) -> [NWConnection] {
            let garbage = (0..<40).map { _ in NWConnection(to: port, using: .udp) }
            for connection in garbage {
                connection.start(queue: .global())
                connection.send(
                    content: Data(repeating: 22, count: 60), completion: .contentProcessed { _ in })
            }
            let stranger = NWConnection(to: port, using: lane(key: 7, identity: String(repeating: "0", count: 32)))
            stranger.stateUpdateHandler = { state in
                switch state {
                case .ready: ends.put(true)
                case .failed, .waiting: ends.put(false)
                default: break
                }
            }
            stranger.start(queue: DispatchQueue(label: "foreign host"))
            return garbage + [stranger]
        }

        private static func lane(key: UInt8, identity: String) -> NWParameters {
            let tls = NWProtocolTLS.Options()
            let key = [UInt8](repeating: key, count: 32)
            sec_protocol_options_add_pre_shared_key(
                tls.securityProtocolOptions, key.withUnsafeBytes { DispatchData(bytes: $0) },
                Array(identity.utf8).withUnsafeBytes { DispatchData(bytes: $0) })
            return NWParameters(dtls: tls, udp: NWProtocolUDP.Options())
        }

        @Test("A lane stays while its link is replaced")
        func survives() async throws {
            let (ann, bob) = try await readyPair()
            ann.node.cutLinks()
            try await ann.seen.first { $0 == .resumed("Bob") }
            try send("after", bob, to: ann)
            #expect(try await ann.seen.next() == .message("after", from: "Bob"))
            #expect(bob.group?.datagramReport(ann.me)?.sentCount == 1)
            #expect(ann.lanes.history == [.ready] && bob.lanes.history == [.ready])
            for peer in [ann, bob] { peer.close() }
        }
    }
}
