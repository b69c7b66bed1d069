/// Pairing secrets: the secret that this side shows, and the secrets that this side read from other peers' texts.
///
/// A HELLO proves a secret with an HMAC over its TLS connection's exporter value, so that a man in the middle cannot relay the proof.
struct PairingTable: Sendable {
    /// Whether pairing applies to a HELLO, and whether its proof is correct.
    enum Verdict: Equatable, Sendable { case unconcerned, proven, refused }

    /// Inputs for a proof: the connection, and the two peers' roles.
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
        /// The first peer that proved the secret. Other peers cannot use it any more.
        var holder: PeerKey?
    }

    private struct Expectation: Sendable {
        let secret: [UInt8]
        let deadline: Duration
    }

    private static let limit = 16
    private var offer: Offer?
    private var expected: [PeerKey: Expectation] = [:]

    /// Accepts proofs for a secret until the deadline, instead of an earlier secret; with `nil`, accepts no proofs.
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

    /// Whether a peer may become paired: this side shows a secret, or expects one from the peer.
    func isOpen(for peer: PeerKey, at now: Duration) -> Bool { secret(for: peer, at: now) != nil }

    private func secret(for peer: PeerKey, at now: Duration) -> [UInt8]? {
        if let expectation = expectation(of: peer, at: now) { return expectation.secret }
        guard let offer, now < offer.deadline, offer.holder == nil || offer.holder == peer else { return nil }
        return offer.secret
    }

    /// Returns the secret that a peer must prove, with its deadline; `nil` after the deadline.
    private func expectation(of peer: PeerKey, at now: Duration) -> Expectation? {
        expected[peer].flatMap { now < $0.deadline ? $0 : nil }
    }

    /// Returns the proof for this side's HELLO; empty if there is no secret for the peer.
    ///
    /// - Parameters:
    ///   - proof: The inputs.
    ///   - isProven: Whether the peer has proven the secret on this link. If this side accepted the link and shows the
    ///     secret, the peer must prove the secret first: this side sends its own proof only if `isProven` is `true`.
    ///   - now: The current time.
    func proof(_ proof: Proof, isProven: Bool, at now: Duration) -> [UInt8] {
        guard proof.isDialler || isProven || expectation(of: proof.verifier, at: now) != nil else { return [] }
        return secret(for: proof.verifier, at: now).map { proof.code($0) } ?? []
    }

    /// Judges the proof in a HELLO.
    mutating func judge(_ code: [UInt8], _ proof: Proof, at now: Duration) -> Verdict {
        guard let secret = secret(for: proof.prover, at: now) else { return .unconcerned }
        let isExpected = expectation(of: proof.prover, at: now) != nil
        // The displayed secret is optional. For a peer that sends no proof of it, the policy decides.
        if code.isEmpty, !isExpected { return .unconcerned }
        guard PeerDigest.areEqual(code, proof.code(secret)) else { return .refused }
        if !isExpected { offer?.holder = proof.prover }
        return .proven
    }

    /// Removes the secrets that the peer proved, because it has joined.
    mutating func used(by peer: PeerKey) {
        expected[peer] = nil
        if offer?.holder == peer { offer = nil }
    }

    /// Whether the peer has proven that it knows the displayed secret, and the secret has not expired.
    func isHolder(_ peer: PeerKey, at now: Duration) -> Bool {
        offer.map { $0.holder == peer && now < $0.deadline } ?? false
    }
}
