/// Functions for recorded peer keys, trust policies, and pairing.
extension PeerMesh {
    /// Sets the policy and the keys recorded earlier. Call it before the first link.
    package mutating func trust(_ known: PeerPins) { pins = known }

    /// All recorded peer keys.
    package var recordedPins: [PinEntry] { pins.all }

    /// Records a key for its peer ID. Another key with this ID is then refused.
    package mutating func pin(_ key: PeerKey) { _ = pins.record(PinEntry(key: key, name: "")) }

    /// Removes a peer ID's key, so that the next key with this ID is new. Members stay connected.
    package mutating func forget(_ id: UInt64) { pins.forget(id) }

    /// Returns how a key relates to the recorded keys. If the peer proved the pairing secret that this side shows, it
    /// counts as paired until the secret expires. It does not count as paired if its ID is recorded with another key.
    package func standing(of key: PeerKey, at now: Duration) -> PeerStanding {
        let standing = pins.standing(of: key)
        return standing != .changed && pairings.isHolder(key, at: now) ? .paired : standing
    }

    /// Accepts a pairing secret until the deadline: the first peer that proves it becomes paired. `nil` stops accepting
    /// the secret.
    package mutating func showPairing(_ secret: [UInt8]?, until deadline: Duration) {
        pairings.show(secret, until: deadline)
    }

    /// Expects a peer to prove the secret in the pairing text that the peer showed. Until the deadline, links to the
    /// peer without this proof are refused.
    ///
    /// - Returns: `false` if 16 peers are expected already.
    package mutating func expectPairing(
        of key: PeerKey, _ secret: [UInt8], until deadline: Duration, at now: Duration
    ) -> Bool {
        pairings.expect(key, secret, until: deadline, at: now)
    }

    package mutating func stopExpectingPairing(of key: PeerKey) { pairings.stopExpecting(key) }

    /// Returns the pairing proof for this side's HELLO frame. The proof is empty if there is no secret.
    func pairingProof(_ link: Boxed<Link>, at now: Duration) -> [UInt8] {
        guard let facts = link.facts, let peer = link.peerKey else { return [] }
        let proof = PairingTable.Proof(
            exporter: facts.exporter, isDialler: link.isDialler, prover: own.key, verifier: peer)
        return pairings.proof(proof, isProven: link.consent.isPaired, at: now)
    }

    /// Accepts or refuses a peer that has proved its key.
    ///
    /// A peer ID that is recorded with another key is always refused. If a pairing secret applies to the peer, checks
    /// the peer's proof of the secret. Otherwise applies the policy.
    mutating func admit(_ hello: Hello, on id: LinkID, _ link: Boxed<Link>, at now: Duration) throws(PeerReason) {
        let key = hello.peer.key
        do throws(PeerReason) {
            if pins.standing(of: key) == .changed { throw .identityChanged }
            let proof = PairingTable.Proof(
                exporter: link.facts?.exporter ?? [], isDialler: !link.isDialler, prover: key, verifier: own.key)
            switch pairings.judge(hello.pairing, proof, at: now) {
            case .refused: throw .notVerified
            case .proven:
                guard pins.standing(of: key) != .unknown || pins.hasRoom else { throw .tooMuch }
                links[id]?.consent.isPaired = true
            case .unconcerned: if let reason = pins.refusal(of: key) { throw reason }
            }
        } catch {
            actions.append(.refused(hello.peer, error))
            throw error
        }
    }

    /// Returns why this side must not invite the peer; `nil` if it may.
    func refusal(ofInviting key: PeerKey, at now: Duration) -> PeerReason? {
        guard let reason = pins.refusal(of: key) else { return nil }
        return reason == .notVerified && pairings.isOpen(for: key, at: now) ? nil : reason
    }

    /// Records a member's key after it joined or was verified.
    mutating func record(_ member: MemberID, isPaired: Bool) {
        guard let info = self[member]?.info else { return }
        let entry = PinEntry(key: member.peer, name: info.name, isPaired: isPaired)
        let (isChanged, evicted) = pins.record(entry)
        if let evicted { actions.append(.unpinned(evicted.key)) }
        if isPaired { pairings.used(by: member.peer) }
        guard isChanged || isPaired else { return }
        actions.append(.pinned(member, entry))
    }
}
