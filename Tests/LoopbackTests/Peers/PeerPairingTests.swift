import Causeway
import CausewayPeerProtocols
import Foundation
import Testing

@testable import CausewayPeers

extension Loopback {
    /// Tests recorded keys and pairing between sessions. The key stores are in a folder of the test.
    @Suite("Pairing of peer sessions")
    struct PeerPairingTests {
        private final class Home {
            let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            deinit { try? FileManager.default.removeItem(atPath: root) }

            func store(_ name: String) -> PeerPinStore { PeerPinStore("cw-test", in: "\(root)/\(name)") }

            /// Returns a session that does not browse. Other peers can reach it only by its address.
            func session(
                _ local: LocalPeer, _ trust: PeerTrust, parts: String? = nil
            ) throws -> (session: PeerSession, node: PeerNode) {
                let node = try PeerNode(local, queueLimit: 4 << 20, trust, store(local.peer.name))
                var options = PeerSession.Options()
                options.browses = false
                options.partialFiles = parts.map { URL(fileURLWithPath: "\(root)/\($0)") }
                return (PeerSession(node, "cw-test", 8, options), node)
            }
        }

        private func introduce(_ one: PeerNode, _ other: PeerNode) async throws {
            for (node, place) in [(one, other), (other, one)] {
                let number = await withCheckedContinuation { done in
                    place.whenListening { done.resume(returning: $0) }
                }
                let port = try #require(NWEndpoint.Port(rawValue: number))
                node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: place.local.peer)
            }
        }

        /// Accepts invitations, and passes the other events to the test.
        private func follow(_ session: PeerSession) -> Mailbox<PeerEvent> {
            let mailbox = Mailbox<PeerEvent>()
            let events = session.events
            Task {
                for try await event in events {
                    if case .invited(let invite) = event { invite.accept() } else { mailbox.put(event) }
                }
            }
            return mailbox
        }

        @Test("Two peers that accept paired ones only: the text pairs them, and a later session needs none")
        func pairs() async throws {
            let home = Home()
            let locals = (try LocalPeer(named: "Ann"), try LocalPeer(named: "Bob"))
            do {
                let (ann, bob) = (try home.session(locals.0, .paired), try home.session(locals.1, .paired))
                try await introduce(ann.node, bob.node)
                let events = follow(ann.session)
                await #expect(throws: PeerFailure(.unverified)) { try await bob.session.invite(ann.session.me) }
                let pairing = try PeerPairing(try ann.session.offerPairing().text)
                #expect(pairing.peer == ann.session.me && pairing.expires > Date())
                try await bob.session.pair(with: pairing)
                _ = try await events.first { if case .paired(bob.session.me) = $0 { true } else { false } }
                #expect(bob.session.recognition(of: ann.session.me) == .paired)
                // A pairing secret can be used only once, so this second pairing fails.
                await #expect(throws: PeerFailure(.invalid)) { try await bob.session.pair(with: pairing) }
                bob.session.leave()
                _ = try await events.first { if case .left = $0 { true } else { false } }
            }
            #expect(try home.store("Ann").pins().map(\.isPaired) == [true])
            #expect(try home.store("Bob").pins().map(\.peer) == [locals.0.peer])
            let (ann, bob) = (try home.session(locals.0, .paired), try home.session(locals.1, .paired))
            try await introduce(ann.node, bob.node)
            _ = follow(ann.session)
            try await bob.session.invite(ann.session.me)
            withExtendedLifetime((ann, bob)) {}
        }

        @Test(
            "A text that expired is refused by its reader; one that its reader's slow clock takes, by the peer that shows it"
        )
        func expired() async throws {
            let home = Home()
            let ann = try home.session(try LocalPeer(named: "Ann"), .paired)
            let bob = try home.session(try LocalPeer(named: "Bob"), .paired)
            try await introduce(ann.node, bob.node)
            _ = follow(ann.session)
            // This time is so short that it has passed before the peer can use the secret.
            let shown = try ann.session.offerPairing(for: .nanoseconds(1))
            func text(_ expires: TimeInterval) throws -> PeerPairing {
                let content = shown.content
                let changed = PairingText(
                    service: content.service, peer: content.peer, name: content.name, secret: content.secret,
                    expires: UInt64(Date().timeIntervalSince1970 + expires))
                return try PeerPairing(try #require(changed).text)
            }
            // Change the expiry date by an hour in both directions, as if the reader's clock were wrong. First, the
            // text seems to have expired. Then, it seems to be still valid.
            await #expect(throws: PeerFailure(.timedOut)) { try await bob.session.pair(with: try text(-3_600)) }
            await #expect(throws: PeerFailure(.unverified)) { try await bob.session.pair(with: try text(3_600)) }
            #expect(bob.session.recognition(of: ann.session.me) == .unknown && ann.session.peers.isEmpty)
            // A new pairing text works after the failed attempts.
            try await bob.session.pair(with: try ann.session.offerPairing())
        }

        @Test("A peer with a recorded number and another key is refused on both sides until it is forgotten")
        func changedKey() async throws {
            let home = Home()
            let ann = try home.session(try LocalPeer(named: "Ann"), .pinned)
            let events = follow(ann.session)
            let first = try home.session(try LocalPeer(named: "Bob", id: 77), .any)
            try await introduce(ann.node, first.node)
            try await first.session.invite(ann.session.me)
            first.session.leave()
            let second = try home.session(try LocalPeer(named: "Bob", id: 77), .any)
            try await introduce(ann.node, second.node)
            await #expect(throws: PeerFailure(.identityChanged)) { try await second.session.invite(ann.session.me) }
            let refused = try await events.first { if case .refused = $0 { true } else { false } }
            guard case .refused(second.session.me, PeerFailure(.identityChanged)) = refused else {
                Issue.record("\(refused)")
                return
            }
            await #expect(throws: PeerFailure(.identityChanged)) { try await ann.session.invite(second.session.me) }
            ann.session.forget(second.session.me)
            try await second.session.invite(ann.session.me)
            withExtendedLifetime((ann, first, second)) {}
        }

        @Test(
            "A file that was cut goes on where it ended in a later session, and a changed one is refused",
            arguments: [false, true])
        func resumes(changes: Bool) async throws {
            let home = Home()
            let locals = (try LocalPeer(named: "Ann"), try LocalPeer(named: "Bob"))
            try FileManager.default.createDirectory(atPath: home.root, withIntermediateDirectories: true)
            let file = URL(fileURLWithPath: "\(home.root)/film")
            let contents = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            try contents.write(to: file)
            // Create the incomplete file that an earlier transfer left.
            let folder = PartFolder(URL(fileURLWithPath: "\(home.root)/parts"))
            try folder.prepare()
            let claim = try #require(
                folder.claim(ResourceOffer(name: "film", size: 3_000_000), of: locals.1.peer))
            let kept = changes ? Data(repeating: 1, count: 2_000_000) : contents.prefix(2_000_000)
            #expect(
                FileManager.default.createFile(
                    atPath: claim.url.path, contents: kept, attributes: [.posixPermissions: 0o600]))
            let ann = try home.session(locals.0, .any, parts: "parts")
            let bob = try home.session(locals.1, .any)
            try await introduce(ann.node, bob.node)
            let events = follow(ann.session)
            try await bob.session.invite(ann.session.me)
            let sending = Task {
                for try await _ in bob.session.send(file: file, to: ann.session.me) {}
            }
            let started = try await events.first { if case .receiving = $0 { true } else { false } }
            let end = try await events.first {
                switch $0 {
                case .file, .fileFailed: true
                default: false
                }
            }
            guard case .receiving(let transfer, _) = started else { return }
            #expect(transfer.progress.totalUnitCount == 3_000_000)
            if changes {
                guard case .fileFailed(_, let failure, _) = end else {
                    Issue.record("\(end)")
                    return
                }
                #expect(failure.message.contains("digest"))
                await #expect(throws: PeerFailure.self) { try await sending.value }
            } else {
                guard case .file(let file, _) = end else {
                    Issue.record("\(end)")
                    return
                }
                #expect(try Data(contentsOf: file.url) == contents)
                try await sending.value
            }
            #expect(!FileManager.default.fileExists(atPath: claim.url.path))
            withExtendedLifetime((ann, bob)) {}
        }
    }
}
