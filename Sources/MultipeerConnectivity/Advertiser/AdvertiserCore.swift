internal import Causeway
internal import CausewayPeers
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The implementation of ``MCNearbyServiceAdvertiser``. May be used from any thread; events are delivered on its private queue.
final class AdvertiserCore: Sendable {
    private let peer: PeerIdentity
    private let service: String
    private let info: [String: String]
    private let queue = DispatchQueue(label: "causeway.multipeer.advertiser", target: .global())
    private let faces = WeakDelegate<MCNearbyServiceAdvertiser, any MCNearbyServiceAdvertiserDelegate>()
    private let runs = LockedValue(ServiceRuns<PeerAdvertisement>())

    init(peer: PeerIdentity, service: String, info: [String: String]) {
        (self.peer, self.service, self.info) = (peer, service, info)
    }

    func attach(_ advertiser: MCNearbyServiceAdvertiser) { faces.attach(advertiser) }

    var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { faces.delegate }
        set { faces.delegate = newValue }
    }

    func start() {
        guard let run = runs.withLock({ $0.begin() }) else { return }
        // Start advertising on the queue, because this may create the peer's key. Creating a key takes milliseconds.
        queue.async { self.begin(run) }
    }

    func stop() { runs.withLock { $0.end() }?.stop() }

    private func begin(_ run: Int) {
        guard isCurrent(run) else { return }
        do throws(PeerFailure) {
            let node = try LocalPeers.shared.node(for: peer)
            let advertisement = node.advertise(service, info: info, queue: queue) { [weak self] in self?.handle($0, run)
            }
            runs.withLock { $0.keep(advertisement, of: run) }?.stop()
        } catch {
            failed(error, run)
        }
    }

    private func isCurrent(_ run: Int) -> Bool { runs.withLock { $0.isCurrent(run) } }

    private func handle(_ event: AdvertiserEvent, _ run: Int) {
        guard isCurrent(run) else {
            // The program has stopped advertising after this event was queued. So decline an invitation.
            if case .invited(let invitation) = event { invitation.decline() }
            return
        }
        switch event {
        case .started: break
        case .failed(let failure): failed(failure, run)
        case .invited(let invitation): invited(invitation)
        }
    }

    private func failed(_ failure: PeerFailure, _ run: Int) {
        guard isCurrent(run) else { return }
        stop()
        guard let (advertiser, delegate) = faces.pair else { return }
        delegate.advertiser(advertiser, didNotStartAdvertisingPeer: MCError(failure))
    }

    /// Passes an invitation to the delegate. If there is no delegate, declines the invitation.
    private func invited(_ invitation: PeerInvitation) {
        guard let (advertiser, delegate) = faces.pair else { return invitation.decline() }
        let inviter = MCPeerID(invitation.peer)
        delegate.advertiser(
            advertiser, didReceiveInvitationFromPeer: inviter, withContext: invitation.context
        ) { [peer] isAccepted, session in
            // The inviter has invited the advertised peer. A session can belong to another local peer. In that case,
            // decline the invitation.
            guard isAccepted, let session, session.core.peer.id == peer.id else { return invitation.decline() }
            session.core.accept(invitation)
        }
    }
}
