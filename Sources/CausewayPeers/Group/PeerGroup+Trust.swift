internal import CausewayPeerProtocols

extension PeerGroup {
    /// Starts to accept a pairing secret; `nil` stops accepting it.
    func showPairing(_ secret: [UInt8]?, for lifetime: Duration) {
        node.apply { core, now in core.mesh.showPairing(secret, until: PeerTimes.end(of: lifetime, from: now)) }
    }

    /// Records that a peer is expected to prove a pairing secret. Returns `false` if too many peers are already
    /// expected.
    func expectPairing(_ pairing: PairingText, for lifetime: Duration) -> Bool {
        node.apply { core, now in
            core.mesh.expectPairing(
                of: pairing.peer, pairing.secret, until: PeerTimes.end(of: lifetime, from: now), at: now)
        }
    }

    func stopExpectingPairing(_ peer: PeerIdentity) {
        node.apply { core, _ in core.mesh.stopExpectingPairing(of: peer.key) }
    }

    package func recognition(of peer: PeerIdentity) -> PeerRecognition {
        node.apply { core, now in PeerRecognition(core.mesh.standing(of: peer.key, at: now)) }
    }

    func forget(_ peer: PeerIdentity) {
        node.apply { core, _ in
            core.mesh.forget(peer.id)
            // Request the key's removal as an action of the node. It then runs after the node's earlier actions, which
            // may still record the key.
            core.request(.unpin(peer.id))
        }
    }
}
