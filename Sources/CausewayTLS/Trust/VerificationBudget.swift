/// The work that one judgement of a peer's certificates may take.
///
/// A peer is not authenticated while its chain is judged, so each kind of work that it can ask for has a bound: about 20 milliseconds in
/// all on a processor of 2023.
struct VerificationBudget {
    enum Expense {
        /// One certificate more in a chain.
        case step
        /// A signature of a certificate of this length, checked with a key.
        case signature(SigningKey, byteCount: Int)
        /// A complete chain, whose certificates have this many bytes together.
        case chain(byteCount: Int)
    }

    private var steps = 512
    private var signatureMicroseconds = 10_000
    private var chainBytes = 2 << 20
    /// What comparisons with constraints on names may still read: see ``NameConstraints``.
    var comparedBytes = NameConstraints.maximumWork

    /// Bytes that a digest takes about a microsecond for.
    private static let digestedBytesPerMicrosecond = 256

    /// - Returns: Whether that much was left. Otherwise the work is not to be done.
    mutating func spend(_ expense: Expense) -> Bool {
        switch expense {
        case .step:
            steps -= 1
            return steps >= 0
        case .signature(let key, let byteCount):
            signatureMicroseconds -= key.verificationCost + byteCount / Self.digestedBytesPerMicrosecond
            return signatureMicroseconds >= 0
        case .chain(let byteCount):
            chainBytes -= byteCount
            return chainBytes >= 0
        }
    }
}
