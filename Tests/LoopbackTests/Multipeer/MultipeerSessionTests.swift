import Foundation
import Testing

@testable import MultipeerConnectivity

extension Loopback {
    @Suite("MultipeerConnectivity: sessions")
    struct MultipeerSessionTests {
        @Test("An invitation connects both in order, data of both modes arrives, disconnect is seen by both")
        func data() async throws {
            let (ann, bob) = (try SessionProbe("Ann"), try SessionProbe("Bob"))
            try await ann.meet(bob)
            ann.invite(bob, context: "hello")
            #expect(try await bob.invitations.next() == "Ann hello")
            #expect(try await ann.seen.next() == .state("Bob", .connecting, connected: []))
            #expect(try await ann.seen.next() == .state("Bob", .connected, connected: ["Bob"]))
            #expect(try await bob.seen.next() == .state("Ann", .connecting, connected: []))
            #expect(try await bob.seen.next() == .state("Ann", .connected, connected: ["Ann"]))
            for number in 0..<100 {
                try ann.session.send(Data("\(number)".utf8), toPeers: ann.session.connectedPeers, with: .reliable)
            }
            for number in 0..<100 { #expect(try await bob.seen.next() == .data("\(number)", from: "Ann")) }
            try bob.session.send(Data("quick".utf8), toPeers: [ann.peer], with: .unreliable)
            #expect(try await ann.seen.next() == .data("quick", from: "Bob"))
            ann.session.disconnect()
            #expect(throws: MCError.self) { try ann.session.send(Data(), toPeers: [bob.peer], with: .reliable) }
            #expect(try await ann.seen.next() == .state("Bob", .notConnected, connected: []))
            #expect(try await bob.seen.next() == .state("Ann", .notConnected, connected: []))
            // The session can be used again after `disconnect()`.
            ann.invite(bob)
            try await ann.waitFor("Bob")
            try await bob.waitFor("Ann")
            for peer in [ann, bob] { peer.close() }
        }

        @Test("Declined, unanswered and rejected: notConnected at the inviter, and no connection")
        func failures() async throws {
            let ann = try SessionProbe("Ann")
            let (bob, eve) = (try SessionProbe("Bob", accepts: false), try SessionProbe("Eve", accepts: nil))
            let kim = try SessionProbe("Kim", judges: false)
            for peer in [bob, eve, kim] { try await ann.meet(peer) }
            ann.invite(bob)
            try await ann.waitFor("Bob", .notConnected)
            ann.invite(eve, timeout: 0.2)
            try await ann.waitFor("Eve", .notConnected)
            ann.invite(kim)
            try await ann.waitFor("Kim", .notConnected)
            #expect(ann.session.connectedPeers.isEmpty && kim.session.connectedPeers.isEmpty)
            #expect(!ann.seen.history.contains { if case .state(_, .connected, _) = $0 { true } else { false } })
            for peer in [ann, bob, eve, kim] { peer.close() }
        }

        @Test("Three peers are a mesh: the two that were invited connect to each other")
        func mesh() async throws {
            let peers = [try SessionProbe("Ann"), try SessionProbe("Bob"), try SessionProbe("Cid")]
            for peer in peers.dropFirst() {
                try await peers[0].meet(peer)
                peers[0].invite(peer)
            }
            for peer in peers {
                try await peer.seen.first {
                    if case .state(_, .connected, let names) = $0 { names.count == 2 } else { false }
                }
            }
            try peers[1].session.send(Data("all".utf8), toPeers: peers[1].session.connectedPeers, with: .reliable)
            for peer in [peers[0], peers[2]] { try await peer.seen.first { $0 == .data("all", from: "Bob") } }
            for peer in peers { peer.close() }
        }

        @Test("Custom discovery: two peers connect by data that they exchange")
        func customDiscovery() async throws {
            let (ann, bob) = (try SessionProbe("Ann"), try SessionProbe("Bob"))
            // Each peer has a copy of the other peer's identifier, restored from an archive. The archive does not
            // contain the key.
            let (annID, bobID) = (try copy(ann.session.myPeerID), try copy(bob.session.myPeerID))
            let forBob = try await ann.session.nearbyConnectionData(forPeer: bobID)
            let forAnn = try await bob.session.nearbyConnectionData(forPeer: annID)
            ann.session.connectPeer(bobID, withNearbyConnectionData: forAnn)
            bob.session.connectPeer(annID, withNearbyConnectionData: forBob)
            try await ann.waitFor("Bob")
            try await bob.waitFor("Ann")
            try ann.session.send(Data("hello".utf8), toPeers: [bobID], with: .reliable)
            try await bob.seen.first { $0 == .data("hello", from: "Ann") }
            #expect(ann.invitations.history.isEmpty && bob.invitations.history.isEmpty)
            for peer in [ann, bob] { peer.close() }
        }

        private func copy(_ peer: MCPeerID) throws -> MCPeerID {
            let face = PeerArchive(peer: peer.peer)
            return MCPeerID(face.peer)
        }
    }
}
