import Causeway
import CausewayPeers
import CausewaySystem
import Foundation
import Testing

@testable import MultipeerConnectivity

/// A local peer of the MultipeerConnectivity module. It records its delegate calls, and a test takes them in order.
final class SessionProbe: NSObject, Sendable, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate {
    enum Seen: Equatable, Sendable {
        case state(String, MCSessionState, connected: [String])
        case data(String, from: String)
        case stream(String, from: String)
        case starts(String, from: String)
        case finishes(String, byteCount: Int?, MCError.Code?, from: String)
    }

    let me: PeerIdentity
    let seen = Mailbox<Seen>()
    let invitations = Mailbox<String>()
    let transfers = Mailbox<Progress>()
    let streams = Mailbox<Unchecked<InputStream>>()
    /// The certificates of each peer, in DER. An entry is `nil` if the peer showed no certificate.
    let certificates = Mailbox<[Data]?>()
    private let parts:
        Unchecked<(session: MCSession, advertiser: MCNearbyServiceAdvertiser, browser: MCNearbyServiceBrowser)>
    private let node: PeerNode
    private let accepts: Bool?
    private let judges: Bool

    /// - Parameters:
    ///   - accepts: Whether the session accepts invitations. `nil` leaves invitations without an answer.
    ///   - judges: Whether the session accepts the peers' certificates.
    ///   - identity: The session's identity and certificates, which peers see.
    init(_ name: String, accepts: Bool? = true, judges: Bool = true, identity: [Any]? = nil) throws {
        let peer = MCPeerID(displayName: name)
        node = try LocalPeers.shared.node(for: peer.peer)
        me = node.local.peer
        (self.accepts, self.judges) = (accepts, judges)
        parts = Unchecked(
            (
                MCSession(peer: peer, securityIdentity: identity, encryptionPreference: .required),
                MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: "cw-mc"),
                MCNearbyServiceBrowser(peer: peer, serviceType: "cw-mc")
            ))
        super.init()
        parts.value.session.delegate = self
        parts.value.advertiser.delegate = self
        parts.value.advertiser.startAdvertisingPeer()
    }

    var session: MCSession { parts.value.session }
    var peer: MCPeerID { MCPeerID(me) }

    /// Tells each peer the other peer's address, as discovery does.
    func meet(_ other: SessionProbe) async throws {
        for (probe, place) in [(self, other), (other, self)] {
            let port = await withCheckedContinuation { continuation in
                place.node.whenListening { continuation.resume(returning: $0) }
            }
            let number = try #require(NWEndpoint.Port(rawValue: port))
            probe.node.learn(.hostPort(host: .ipv4(.loopback), port: number), of: place.me)
        }
    }

    func invite(
        _ other: SessionProbe, to used: MCSession? = nil, context: String? = nil, timeout: TimeInterval = 30
    ) {
        parts.value.browser.invitePeer(
            other.peer, to: used ?? session, withContext: context.map { Data($0.utf8) }, timeout: timeout)
    }

    /// Two connected peers.
    static func pair() async throws -> (SessionProbe, SessionProbe) {
        let (ann, bob) = (try SessionProbe("Ann"), try SessionProbe("Bob"))
        try await ann.meet(bob)
        ann.invite(bob)
        try await ann.waitFor("Bob")
        try await bob.waitFor("Ann")
        return (ann, bob)
    }

    func waitFor(_ name: String, _ wanted: MCSessionState = .connected) async throws {
        try await seen.first {
            if case .state(name, wanted, _) = $0 { true } else { false }
        }
    }

    func close() {
        parts.value.advertiser.stopAdvertisingPeer()
        session.disconnect()
    }

    // MARK: Delegate

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitations.put("\(peerID.displayName) \(context.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
        if let accepts { invitationHandler(accepts, accepts ? session : nil) }
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        seen.put(.state(peerID.displayName, state, connected: session.connectedPeers.map(\.displayName).sorted()))
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        seen.put(.data(String(decoding: data, as: UTF8.self), from: peerID.displayName))
    }
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {
        streams.put(Unchecked(stream))
        seen.put(.stream(streamName, from: peerID.displayName))
    }
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {
        transfers.put(progress)
        seen.put(.starts(resourceName, from: peerID.displayName))
    }
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) {
        let size = localURL.flatMap { try? Data(contentsOf: $0).count }
        seen.put(.finishes(resourceName, byteCount: size, (error as! MCError?)?.code, from: peerID.displayName))
    }
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        certificates.put(certificate?.map { SecCertificateCopyData($0 as! SecCertificate) as Data })
        certificateHandler(judges)
    }
}
