/// The secrets of pairing texts: the one that this side shows, and those that it read.
///
/// A HELLO proves a secret with a code over the exporter of its TLS connection, so that a peer between the two cannot pass the proof on.
struct PairingTable: Sendable {
    /// A pairing concerns the link or not, and then its proof is right or wrong.
    enum Verdict: Equatable, Sendable { case unconcerned, proven, refused }

    /// A direction of a link.
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
        /// The first peer that proved the secret. It is of no use to others.
        var holder: PeerKey?
    }

    private struct Expectation: Sendable {
        let secret: [UInt8]
        let deadline: Duration
    }

    private static let limit = 16
    private var offer: Offer?
    private var expected: [PeerKey: Expectation] = [:]

    /// Shows a secret; `nil` ends that. Replaces an earlier one.
    mutating func show(_ secret: [UInt8]?, until deadline: Duration) {
        offer = secret.map { Offer(secret: $0, deadline: deadline) }
    }

    /// Expects a peer to prove the secret that was read. Returns `false` if 16 are expected already.
    mutating func expect(_ peer: PeerKey, _ secret: [UInt8], until deadline: Duration, at now: Duration) -> Bool {
        expected = expected.filter { $0.value.deadline > now }
        guard expected.count < Self.limit || expected[peer] != nil else { return false }
        expected[peer] = Expectation(secret: secret, deadline: deadline)
        return true
    }

    mutating func stopExpecting(_ peer: PeerKey) { expected[peer] = nil }

    /// Whether a peer may become paired: a secret is shown to it or expected of it.
    func isOpen(for peer: PeerKey, at now: Duration) -> Bool { secret(for: peer, at: now) != nil }

    private func secret(for peer: PeerKey, at now: Duration) -> [UInt8]? {
        if let expectation = expected[peer], now < expectation.deadline { return expectation.secret }
        guard let offer, now < offer.deadline, offer.holder == nil || offer.holder == peer else { return nil }
        return offer.secret
    }

    /// The proof for a HELLO of this side; empty without a secret for that peer.
    ///
    /// - Parameter isProven: Whether the peer has proven the secret on this link. An accepter that shows a text waits for that.
    func proof(_ proof: Proof, isProven: Bool, at now: Duration) -> [UInt8] {
        guard proof.isDialler || isProven || expected[proof.verifier] != nil else { return [] }
        return secret(for: proof.verifier, at: now).map { proof.code($0) } ?? []
    }

    /// Judges the proof in a HELLO.
    mutating func judge(_ code: [UInt8], _ proof: Proof, at now: Duration) -> Verdict {
        guard let secret = secret(for: proof.prover, at: now) else { return .unconcerned }
        let isExpected = expected[proof.prover].map { now < $0.deadline } ?? false
        // Others join as usual while a text is shown.
        if code.isEmpty, !isExpected { return .unconcerned }
        guard PeerDigest.areEqual(code, proof.code(secret)) else { return .refused }
        if !isExpected { offer?.holder = proof.prover }
        return .proven
    }

    /// A peer that proved a secret joined. The secret cannot be used again.
    mutating func used(by peer: PeerKey) {
        if expected.removeValue(forKey: peer) == nil, offer?.holder == peer { offer = nil }
    }

    /// Whether the peer has proven the secret that is shown.
    func isHolder(_ peer: PeerKey) -> Bool { offer?.holder == peer }
}
