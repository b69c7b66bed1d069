import Causeway
import CausewayPeers
import CausewaySystem
import CausewayTestKit
import Foundation

@testable import MultipeerConnectivity

/// Counts the objects of a storm that exist.
final class StormLife: Sendable {
    private static let counts = LockedValue<[String: Int]>([:])
    private let kind: String

    init(_ kind: String) {
        self.kind = kind
        Self.counts.withLock { $0[kind, default: 0] += 1 }
    }

    deinit { Self.counts.withLock { $0[kind, default: 0] -= 1 } }

    /// The objects that exist at present: the number of each kind.
    static var left: [String: Int] { counts.withLock { counts in counts.filter { $0.value != 0 } } }
}

private final class StormSession: MCSession { private let life = StormLife("MCSession") }
private final class StormAdvertiser: MCNearbyServiceAdvertiser {
    private let life = StormLife("MCNearbyServiceAdvertiser")
}
private final class StormBrowser: MCNearbyServiceBrowser { private let life = StormLife("MCNearbyServiceBrowser") }

/// One run of a simulated peer, with a session, an advertiser and a browser. Several threads use them at the same time.
final class StormMember: NSObject, Sendable, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate,
    MCNearbyServiceBrowserDelegate
{
    private typealias Parts = (
        session: MCSession, advertiser: MCNearbyServiceAdvertiser, browser: MCNearbyServiceBrowser
    )

    let node: PeerNode
    private let log: StormLog
    private let parts: Unchecked<Parts>
    private let states = LockedValue<[String: MCSessionState]>([:])
    private let random: LockedValue<SplitMix64>
    private let life = StormLife("delegate")

    init(_ identity: PeerIdentity, _ log: StormLog, seed: UInt64) throws {
        let peer = MCPeerID(identity)
        node = try LocalPeers.shared.node(for: identity)
        self.log = log
        random = LockedValue(SplitMix64(seed: seed))
        parts = Unchecked(
            (
                StormSession(peer: peer, securityIdentity: nil, encryptionPreference: .required),
                StormAdvertiser(peer: peer, discoveryInfo: nil, serviceType: "cw-storm"),
                StormBrowser(peer: peer, serviceType: "cw-storm")
            ))
        super.init()
        parts.value.session.delegate = self
        parts.value.advertiser.delegate = self
        parts.value.browser.delegate = self
        parts.value.advertiser.startAdvertisingPeer()
        parts.value.browser.startBrowsingForPeers()
    }

    private var session: MCSession { parts.value.session }

    // MARK: What threads do

    func invite(_ peer: PeerIdentity, within seconds: Double) {
        parts.value.browser.invitePeer(MCPeerID(peer), to: session, withContext: Data(count: 100), timeout: seconds)
    }

    /// Performs one random action in the session. The action may fail, because other members act at the same time.
    func act(_ random: inout SplitMix64, file: URL) {
        let peers = session.connectedPeers
        switch random.integer(in: 0...13) {
        case 0...4: try? session.send(Data(count: random.integer(in: 0...40_000)), toPeers: peers, with: .reliable)
        case 5...6: try? session.send(Data(count: random.integer(in: 0...2_000)), toPeers: peers, with: .unreliable)
        case 7: if random.chance(oneIn: 30) { session.disconnect() }
        case 8:
            parts.value.advertiser.stopAdvertisingPeer()
            parts.value.advertiser.startAdvertisingPeer()
        case 9:
            parts.value.browser.stopBrowsingForPeers()
            parts.value.browser.startBrowsingForPeers()
        case 10: if let peer = peers.first { stream(to: peer) }
        case 11:
            guard let peer = peers.last else { return }
            let progress = session.sendResource(at: file, withName: "file", toPeer: peer)
            if random.chance(oneIn: 2) { progress?.cancel() }
        case 12: if let peer = peers.first { session.cancelConnectPeer(peer) }
        default: session.nearbyConnectionData(forPeer: MCPeerID(displayName: "custom")) { _, _ in }
        }
    }

    private func stream(to peer: MCPeerID) {
        guard let stream = try? session.startStream(withName: "bytes", toPeer: peer) else { return }
        stream.open()
        _ = stream.write([UInt8](repeating: 7, count: 1_000), maxLength: 1_000)
        stream.close()
    }

    // MARK: Delegate

    /// Checks the order of a peer's state changes. The peer must first be connecting, then connected, and then lost.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        let name = peerID.displayName
        let before = states.withLock { states in states.updateValue(state, forKey: name) ?? .notConnected }
        let isInOrder =
            switch (before, state) {
            case (.notConnected, .connecting), (.connecting, .connected): true
            // Any state may be followed by `notConnected`, for example if an invitation fails.
            case (_, .notConnected): true
            default: false
            }
        if !isInOrder { log.violated("\(name): \(state.rawValue) after \(before.rawValue)") }
        if state == .connected { log.connections.increment() }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        mustBeConnected(peerID, "a message")
        log.messages.increment()
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {
        mustBeConnected(peerID, "a stream")
        stream.open()
        if random.withLock({ $0.chance(oneIn: 2) }) { stream.close() }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) {
        mustBeConnected(peerID, "a resource")
        if random.withLock({ $0.chance(oneIn: 3) }) { progress.cancel() }
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) { mustBeConnected(peerID, "the end of a resource") }

    private func mustBeConnected(_ peer: MCPeerID, _ what: String) {
        let name = peer.displayName
        let state = states.withLock { $0[name] }
        if state != .connected { log.violated("\(what) of \(name) in state \(state?.rawValue ?? 0)") }
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let handler = Unchecked(invitationHandler)
        switch random.withLock({ $0.integer(in: 0...9) }) {
        case 0...5: invitationHandler(true, session)
        case 6: invitationHandler(false, nil)
        case 7: break
        default:
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { [weak self] in
                handler.value(true, self?.session)
            }
        }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) { browser.invitePeer(peerID, to: session, withContext: nil, timeout: 1) }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}
