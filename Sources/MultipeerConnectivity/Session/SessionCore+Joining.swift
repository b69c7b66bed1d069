internal import CausewayPeers
internal import Foundation

extension SessionCore {
    func accept(_ invitation: PeerInvitation) {
        withEngine {
            $0.accept(invitation)
        } otherwise: { _ in
            invitation.decline()
        }
    }

    /// Invites a peer. Has no effect if the peer is already connecting or connected.
    func invite(_ peer: PeerIdentity, service: String, context: Data?, timeout: Duration) {
        withEngine { [self] engine in
            guard !isPresent(peer) else { return }
            guard peer.id != self.peer.id else { return failed(peer) }
            engine.invite(peer, service: service, context: context, timeout: timeout)
        } otherwise: { [self] in
            if $0.code != .cancelled { failed(peer) }
        }
    }

    // MARK: Custom discovery

    func connectionData(for peer: PeerIdentity, _ completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        withEngine { engine in
            engine.connectionData(for: peer.id) { completion($0.mapError { MCError($0) }) }
        } otherwise: {
            completion(.failure(MCError($0)))
        }
    }

    func connect(to peer: PeerIdentity, with data: Data) {
        withEngine { [self] engine in
            guard !isPresent(peer) else { return }
            engine.connect(to: peer.id, with: data)
        } otherwise: { [self] in
            if $0.code != .cancelled { failed(peer) }
        }
    }

    func cancelConnect(to peer: PeerIdentity) {
        withEngine {
            $0.cancelConnect(to: peer.id)
        } otherwise: { _ in
        }
    }
}
