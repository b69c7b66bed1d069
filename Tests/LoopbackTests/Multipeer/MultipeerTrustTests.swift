import Causeway
import CausewayPeers
import Foundation
import Testing

@testable import MultipeerConnectivity

extension Loopback {
    @Suite("MultipeerConnectivity: certificates, shared delegates and files of servers")
    struct MultipeerTrustTests {
        @Test(
            "securityIdentity: the delegate of the other side gets the certificates, none as nil, and decides",
            arguments: [true, false])
        func identity(_ isAccepted: Bool) async throws {
            let identity = try LocalPeer(named: "certificate").identity
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
            let own = try #require(certificate)
            let ann = try SessionProbe("Ann", identity: [identity, own])
            let bob = try SessionProbe("Bob", judges: isAccepted)
            try await ann.meet(bob)
            ann.invite(bob)
            #expect(try await bob.certificates.next() == [SecCertificateCopyData(own) as Data])
            #expect(try await ann.certificates.next() == nil)
            for (probe, other) in [(ann, "Bob"), (bob, "Ann")] {
                try await probe.waitFor(other, isAccepted ? .connected : .notConnected)
            }
            let hasConnected = (ann.seen.history + bob.seen.history).contains {
                if case .state(_, .connected, _) = $0 { true } else { false }
            }
            #expect(hasConnected == isAccepted)
            for peer in [ann, bob] { peer.close() }
        }

        @Test("One object is the delegate of two sessions, and each call names its session")
        func sharedDelegate() async throws {
            let (ann, bob) = try await SessionProbe.pair()
            let cid = try SessionProbe("Cid")
            try await ann.meet(cid)
            let second = MCSession(peer: ann.session.myPeerID)
            second.delegate = ann
            ann.invite(cid, to: second)
            try await ann.seen.first { $0 == .state("Cid", .connected, connected: ["Cid"]) }
            #expect(ann.session.connectedPeers.map(\.displayName) == ["Bob"])
            #expect(bob.session.connectedPeers.map(\.displayName) == ["Ann"])
            // If the session has no delegate, calls are dropped. A delegate that is set later gets only later calls.
            ann.session.delegate = nil
            try bob.session.send(Data("unheard".utf8), toPeers: [ann.peer], with: .reliable)
            second.disconnect()
            try await ann.waitFor("Cid", .notConnected)
            try await cid.waitFor("Ann", .notConnected)
            ann.session.delegate = cid
            try bob.session.send(Data("heard".utf8), toPeers: [ann.peer], with: .reliable)
            try await cid.seen.first { $0 == .data("heard", from: "Bob") }
            for peer in [ann, bob, cid] { peer.close() }
        }

        @Test("A resource at an HTTP URL is fetched and passed on; an error of the server is the sender's error")
        func fetched() async throws {
            let server = try ScriptedServer { peer in
                let head = try await peer.readHead() ?? ""
                guard head.hasPrefix("GET /picture ") else {
                    return try await peer.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                }
                try await peer.respond(String(repeating: "picture", count: 10_000))
            }
            let (ann, bob) = try await SessionProbe.pair()
            let ends = Mailbox<MCError.Code?>()
            func send(_ text: String) throws -> Progress? {
                let url = try #require(URL(string: text))
                return ann.session.sendResource(at: url, withName: "copy", toPeer: bob.peer) { error in
                    ends.put((error as! MCError?)?.code)
                }
            }
            let progress = try #require(try send(server.uri("/picture")))
            #expect(try await ends.next() == nil)
            #expect(progress.fractionCompleted == 1)
            try await bob.seen.first { $0 == .finishes("copy", byteCount: 70_000, nil, from: "Ann") }
            #expect(try send(server.uri("/missing")) != nil)
            #expect(try await ends.next() == .unavailable)
            #expect(try send("ftp://127.0.0.1/file") == nil)
            #expect(try await ends.next() == .unsupported)
            for peer in [ann, bob] { peer.close() }
        }
    }
}
