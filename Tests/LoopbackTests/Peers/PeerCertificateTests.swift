import Causeway
import CausewayPeers
import Foundation
import Testing

extension Loopback {
    @Suite("Peers: certificates of groups")
    struct PeerCertificateTests {
        private enum Seen: Equatable, Sendable {
            case certificates([Data])
            case connected
            case notConnected(PeerFailure)
        }

        /// Creates a group that shows the given identity, if any. It accepts all certificates or rejects all, as
        /// `accepts` states.
        private func group(
            _ name: String, shows identity: SecIdentity?, accepts: Bool, _ seen: Mailbox<Seen>
        ) throws -> (PeerGroup, PeerAdvertisement) {
            var settings = PeerGroup.Settings()
            settings.identity = identity
            settings.judgesCertificates = true
            let group = PeerGroup(PeerNode(try LocalPeer(named: name)), settings) { event in
                switch event {
                case .certificate(_, let chain, let question):
                    seen.put(.certificates(chain))
                    // Do not answer here. Answer later, on another thread.
                    DispatchQueue.global().async { question.answer(accepts) }
                case .connected: seen.put(.connected)
                case .notConnected(_, let failure): seen.put(.notConnected(failure))
                default: break
                }
            }
            let advertisement = group.node.advertise("cw-test") { [weak group] event in
                if case .invited(let invitation) = event, let group { invitation.accept(with: group) }
            }
            return (group, advertisement)
        }

        @Test("Both sides judge the certificates of the other: both must accept", arguments: [true, false])
        func judges(_ isAccepted: Bool) async throws {
            let (annSeen, bobSeen) = (Mailbox<Seen>(), Mailbox<Seen>())
            let shown = try LocalPeer(named: "certificate").identity
            let (ann, first) = try group("Ann", shows: shown, accepts: true, annSeen)
            let (bob, second) = try group("Bob", shows: nil, accepts: isAccepted, bobSeen)
            let number = await withCheckedContinuation { done in bob.node.whenListening { done.resume(returning: $0) } }
            let port = try #require(NWEndpoint.Port(rawValue: number))
            ann.node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: bob.node.local.peer)
            ann.invite(bob.node.local.peer, service: "cw-test", context: nil, timeout: .seconds(20))
            var certificate: SecCertificate?
            SecIdentityCopyCertificate(shown, &certificate)
            let own = SecCertificateCopyData(try #require(certificate))
            #expect(try await bobSeen.next() == .certificates([own]))
            #expect(try await annSeen.next() == .certificates([]))
            let failure = PeerFailure(.unverified)
            for seen in [annSeen, bobSeen] {
                #expect(try await seen.next() == (isAccepted ? .connected : .notConnected(failure)))
            }
            first.stop()
            second.stop()
        }
    }
}
