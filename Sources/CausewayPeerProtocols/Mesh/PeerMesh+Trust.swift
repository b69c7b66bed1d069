/// Keys that are recorded, policies, and pairing.
extension PeerMesh {
    /// Sets the policy and the keys that are known from earlier. Call it before the first link.
    package mutating func trust(_ known: PeerPins) { pins = known }

    /// The recorded keys.
    package var recordedPins: [PinEntry] { pins.all }

    /// Makes a key known for its peer number. Another key with the same number is refused.
    package mutating func pin(_ key: PeerKey) { _ = pins.record(PinEntry(key: key, name: "")) }

    /// Forgets the key of a peer number: the next key is new. Members stay.
    package mutating func forget(_ id: UInt64) { pins.forget(id) }

    /// What is known of a peer. A peer that has proven the secret that this side shows counts as paired.
    package func standing(of key: PeerKey) -> PeerStanding {
        let standing = pins.standing(of: key)
        return standing != .changed && pairings.isHolder(key) ? .paired : standing
    }

    /// Lets the first peer that proves the secret before the deadline become paired; `nil` ends that.
    package mutating func showPairing(_ secret: [UInt8]?, until deadline: Duration) {
        pairings.show(secret, until: deadline)
    }

    /// Expects a peer to prove a secret that the program read. Without that proof, its links are refused until the deadline.
    ///
    /// - Returns: `false` if 16 peers are expected already.
    package mutating func expectPairing(
        of key: PeerKey, _ secret: [UInt8], until deadline: Duration, at now: Duration
    ) -> Bool {
        pairings.expect(key, secret, until: deadline, at: now)
    }

    package mutating func stopExpectingPairing(of key: PeerKey) { pairings.stopExpecting(key) }

    /// The proof of a pairing for this side's HELLO; empty for none.
    func pairingProof(_ link: Boxed<Link>, at now: Duration) -> [UInt8] {
        guard let facts = link.facts, let peer = link.peerKey else { return [] }
        let proof = PairingTable.Proof(
            exporter: facts.exporter, isDialler: link.isDialler, prover: own.key, verifier: peer)
        return pairings.proof(proof, isProven: link.consent.isPaired, at: now)
    }

    /// Decides about a peer whose key is proven.
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

    /// Why an invitation of this side must not be sent; `nil` if it may.
    func refusal(ofInviting key: PeerKey, at now: Duration) -> PeerReason? {
        guard let reason = pins.refusal(of: key) else { return nil }
        return reason == .notVerified && pairings.isOpen(for: key, at: now) ? nil : reason
    }

    /// Records the key of a member that joined or was verified.
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
