import CausewayPeers
import Foundation
import Causeway
import Testing

extension Loopback {
    @Suite("Groups of peers")
    struct PeerGroupTests {
        @Test("An accepted invitation connects both, in order, and messages arrive in order", arguments: [false, true])
        func connects(_ isSix: Bool) async throws {
            let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
            try await ann.meet(bob, host: isSix ? .ipv6(.loopback) : .ipv4(.loopback))
            ann.invite(bob, context: "hello")
            #expect(try await bob.invitations.next().context == Data("hello".utf8))
            #expect(try await ann.seen.next() == .connecting("Bob"))
            #expect(try await ann.seen.next() == .connected("Bob"))
            #expect(try await bob.seen.next() == .connecting("Ann"))
            #expect(try await bob.seen.next() == .connected("Ann"))
            #expect(ann.group?.connectedPeers == [bob.me] && bob.group?.connectedPeers == [ann.me])
            for number in 0..<200 { try ann.send("\(number)", to: bob) }
            try bob.send("back", to: ann)
            for number in 0..<200 { #expect(try await bob.seen.next() == .message("\(number)", from: "Ann")) }
            #expect(try await ann.seen.next() == .message("back", from: "Bob"))
            ann.close()
            #expect(try await bob.seen.next() == .notConnected("Ann", PeerFailure(.left)))
            #expect(bob.group?.connectedPeers == [])
            #expect(throws: PeerFailure(.notConnected)) { try bob.send("late", to: ann) }
            bob.close()
        }

        @Test("A declined invitation, and one without an answer, give notConnected once")
        func declined() async throws {
            let (ann, bob, eve) = (
                try PeerProbe("Ann"), try PeerProbe("Bob", accepts: false), try PeerProbe("Eve", accepts: nil)
            )
            try await ann.meet(bob)
            try await ann.meet(eve)
            ann.invite(bob)
            let first = try await ann.seen.first { if case .notConnected = $0 { true } else { false } }
            #expect(first == .notConnected("Bob", PeerFailure(.declined)))
            ann.invite(eve, timeout: .milliseconds(200))
            let second = try await ann.seen.first { if case .notConnected = $0 { true } else { false } }
            #expect(second == .notConnected("Eve", PeerFailure(.timedOut)))
            #expect(!ann.seen.history.contains(.connected("Bob")) && !ann.seen.history.contains(.connected("Eve")))
            for peer in [ann, bob, eve] { peer.close() }
        }

        @Test("A peer that cannot be reached gives notConnected")
        func unreachable() async throws {
            let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
            try await ann.meet(bob)
            ann.node.learn(
                .hostPort(host: .ipv4(.loopback), port: 1),
                of: PeerIdentity(id: 9, fingerprint: [UInt8](repeating: 7, count: 16), name: "Nil"))
            ann.group?.invite(
                PeerIdentity(id: 9, fingerprint: [UInt8](repeating: 7, count: 16), name: "Nil"), service: "cw-test",
                context: nil, timeout: .seconds(5))
            let seen = try await ann.seen.first { if case .notConnected = $0 { true } else { false } }
            #expect(seen == .notConnected("Nil", PeerFailure(.network)))
            // If a peer's address has another key than expected, the TLS handshake fails.
            let port = try #require(NWEndpoint.Port(rawValue: await bob.port))
            let mallory = PeerIdentity(id: bob.me.id, fingerprint: [UInt8](repeating: 1, count: 16), name: "Bob2")
            ann.node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: mallory)
            ann.group?.invite(mallory, service: "cw-test", context: nil, timeout: .seconds(5))
            let other = try await ann.seen.first { if case .notConnected = $0 { true } else { false } }
            #expect(other == .notConnected("Bob2", PeerFailure(.network)))
            #expect(bob.seen.history.isEmpty && bob.invitations.history.isEmpty)
            ann.close()
            bob.close()
        }

        @Test("Both invite at once: each is asked at most once, both connect, and nothing is reported twice")
        func bothInvite() async throws {
            for round in 0..<24 {
                let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob"))
                try await ann.meet(bob)
                ann.invite(bob)
                bob.invite(ann)
                try await ann.seen.first { $0 == .connected("Bob") }
                try await bob.seen.first { $0 == .connected("Ann") }
                try ann.send("ping", to: bob)
                try await bob.seen.first { $0 == .message("ping", from: "Ann") }
                try bob.send("pong", to: ann)
                try await ann.seen.first { $0 == .message("pong", from: "Bob") }
                #expect(
                    ann.seen.history == [.connecting("Bob"), .connected("Bob"), .message("pong", from: "Bob")],
                    "\(round)")
                #expect(
                    bob.seen.history == [.connecting("Ann"), .connected("Ann"), .message("ping", from: "Ann")],
                    "\(round)")
                let counts = [ann.invitations.history.count, bob.invitations.history.count]
                #expect(counts.contains(1) && counts.allSatisfy { $0 <= 1 }, "\(round)")
                ann.close()
                bob.close()
            }
        }

        @Test("Eight peers are a mesh, and each message arrives once and in order")
        func eight() async throws {
            let peers = try (0..<8).map { try PeerProbe("P\($0)") }
            for peer in peers.dropFirst() {
                try await peers[0].meet(peer)
                peers[0].invite(peer)
            }
            for peer in peers {
                let others = Set(peers.map(\.me.name)).subtracting([peer.me.name])
                var connected: Set<String> = []
                while connected != others {
                    if case .connected(let name) = try await peer.seen.next() { connected.insert(name) }
                }
            }
            let count = 100
            for number in 0..<count {
                for peer in peers {
                    let others = peers.filter { $0 !== peer }.map(\.me)
                    try peer.group?.send(Data("\(number)".utf8), to: others, .reliable)
                }
            }
            for peer in peers {
                var next: [String: Int] = [:]
                for _ in 0..<(count * 7) {
                    guard case .message(let text, let name) = try await peer.seen.next() else {
                        Issue.record("no message: \(peer.seen.history.suffix(3))")
                        return
                    }
                    #expect(text == "\(next[name, default: 0])")
                    next[name, default: 0] += 1
                }
                #expect(next.values.allSatisfy { $0 == count } && next.count == 7)
            }
            for peer in peers { peer.close() }
        }

        @Test("A peer with two services gets an invitation where the inviter found it")
        func services() async throws {
            let (ann, bob) = (try PeerProbe("Ann"), PeerNode(try LocalPeer(named: "Bob")))
            let (ports, asked) = (Mailbox<UInt16>(), Mailbox<String>())
            let first = bob.advertise("cw-first") { event in
                if case .started(let port) = event { ports.put(port) }
                if case .invited(let invitation) = event {
                    asked.put("first")
                    invitation.decline()
                }
            }
            let port = try #require(NWEndpoint.Port(rawValue: try await ports.next()))
            let second = bob.advertise("cw-second") { event in
                if case .started(let port) = event { ports.put(port) }
                if case .invited = event { asked.put("second") }
            }
            _ = try await ports.next()
            ann.node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: bob.local.peer)
            ann.group?.invite(bob.local.peer, service: "cw-first", context: nil, timeout: .seconds(20))
            try await ann.seen.first { $0 == .notConnected("Bob", PeerFailure(.declined)) }
            #expect(asked.history == ["first"])
            first.stop()
            second.stop()
            ann.close()
        }

        @Test("A group that left can be invited again")
        func again() async throws {
            let (ann, bob) = try await PeerProbe.pair()
            ann.group?.leave()
            try await ann.seen.first { $0 == .notConnected("Bob", PeerFailure(.left)) }
            try await bob.seen.first { $0 == .notConnected("Ann", PeerFailure(.left)) }
            bob.invite(ann)
            try await ann.seen.first { $0 == .connected("Bob") }
            try await bob.seen.first { $0 == .connected("Ann") }
            ann.close()
            bob.close()
        }
    }
}
