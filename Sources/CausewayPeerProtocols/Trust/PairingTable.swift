/// The pairing secrets: the one that this side shows, and those that this side read from other peers.
///
/// HELLO proves a secret with an HMAC over its TLS connection's exporter value. So a man in the middle cannot relay the
/// proof.
struct PairingTable: Sendable {
    /// The result of checking a HELLO: pairing does not apply (`unconcerned`), the proof is correct (`proven`), or the
    /// proof is wrong (`refused`).
    enum Verdict: Equatable, Sendable { case unconcerned, proven, refused }

    /// The inputs for a pairing proof: the connection's exporter value, which side dialled, and the keys of the prover
    /// and the verifier.
    struct Proof: Sendable {
        var exporter: [UInt8]
        /// Whether the prover dialled.
        var isDialler: Bool
        var prover: PeerKey
        var verifier: PeerKey

        func code(_ secret: [UInt8]) -> [UInt8] {
            let input = Array("cw-peers/1 pair".utf8) + [isDialler ? 1 : 2] + exporter
            return PeerDigest.hmac(key: secret, input + prover.digestBytes + verifier.digestBytes)
        }
    }

    private struct Offer: Sendable {
        let secret: [UInt8]
        let deadline: Duration
        /// The first peer that proved the secret; `nil` before that. No other peer can use the secret afterwards.
        var holder: PeerKey?
    }

    private struct Expectation: Sendable {
        let secret: [UInt8]
        let deadline: Duration
    }

    private static let limit = 16
    private var offer: Offer?
    private var expected: [PeerKey: Expectation] = [:]

    /// Accepts only proofs of `secret`, and only until the deadline. Proofs of an earlier secret are no longer
    /// accepted. If `secret` is `nil`, no proof is accepted.
    mutating func show(_ secret: [UInt8]?, until deadline: Duration) {
        offer = secret.map { Offer(secret: $0, deadline: deadline) }
    }

    /// Expects a peer to prove the secret that this side has read from the peer's pairing text. Returns `false` if 16
    /// peers are expected already.
    mutating func expect(_ peer: PeerKey, _ secret: [UInt8], until deadline: Duration, at now: Duration) -> Bool {
        expected = expected.filter { $0.value.deadline > now }
        guard expected.count < Self.limit || expected[peer] != nil else { return false }
        expected[peer] = Expectation(secret: secret, deadline: deadline)
        return true
    }

    mutating func stopExpecting(_ peer: PeerKey) { expected[peer] = nil }

    /// Whether a peer can be paired now. This side must show a pairing secret to the peer, or expect the peer to prove
    /// one.
    func isOpen(for peer: PeerKey, at now: Duration) -> Bool { secret(for: peer, at: now) != nil }

    private func secret(for peer: PeerKey, at now: Duration) -> [UInt8]? {
        if let expectation = expectation(of: peer, at: now) { return expectation.secret }
        guard let offer, now < offer.deadline, offer.holder == nil || offer.holder == peer else { return nil }
        return offer.secret
    }

    /// Returns the pairing secret that the peer must prove, and its deadline. Returns `nil` if no secret is expected,
    /// or if its deadline has passed.
    private func expectation(of peer: PeerKey, at now: Duration) -> Expectation? {
        expected[peer].flatMap { now < $0.deadline ? $0 : nil }
    }

    /// Returns the proof for this side's HELLO message; empty if there is no secret for the peer.
    ///
    /// - Parameters:
    ///   - proof: The inputs.
    ///   - isProven: Whether the peer has proven the secret on this link. If this side accepted the link and shows the
    ///     secret, the peer must prove the secret first. In this case, the proof is empty unless `isProven` is `true`.
    ///   - now: The current time.
    func proof(_ proof: Proof, isProven: Bool, at now: Duration) -> [UInt8] {
        guard proof.isDialler || isProven || expectation(of: proof.verifier, at: now) != nil else { return [] }
        return secret(for: proof.verifier, at: now).map { proof.code($0) } ?? []
    }

    /// Checks the pairing proof that a HELLO contains.
    mutating func judge(_ code: [UInt8], _ proof: Proof, at now: Duration) -> Verdict {
        guard let secret = secret(for: proof.prover, at: now) else { return .unconcerned }
        let isExpected = expectation(of: proof.prover, at: now) != nil
        // The peer may have seen the displayed secret, but need not prove it. If the peer sends no proof, the policy
        // decides.
        if code.isEmpty, !isExpected { return .unconcerned }
        guard PeerDigest.areEqual(code, proof.code(secret)) else { return .refused }
        if !isExpected { offer?.holder = proof.prover }
        return .proven
    }

    /// Removes the secrets that a peer has proved. The caller uses this method when the peer has joined.
    mutating func used(by peer: PeerKey) {
        expected[peer] = nil
        if offer?.holder == peer { offer = nil }
    }

    /// Whether this peer has proven that it knows the displayed secret, and the secret is still valid.
    func isHolder(_ peer: PeerKey, at now: Duration) -> Bool {
        offer.map { $0.holder == peer && now < $0.deadline } ?? false
    }
}
