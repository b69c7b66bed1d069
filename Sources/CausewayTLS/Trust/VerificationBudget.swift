/// Limits the work of validating one peer's certificates.
///
/// During validation, the peer is not authenticated yet. So each kind of work that it can cause has a limit. All limits
/// together allow about 20 milliseconds on a processor from 2023.
struct VerificationBudget {
    enum Expense {
        /// The work to add one certificate to a chain.
        case step
        /// The work to check one signature over `byteCount` bytes, for example of a certificate.
        case signature(SigningKey, byteCount: Int)
        /// The work to check one complete chain. Its certificates have `byteCount` bytes in total.
        case chain(byteCount: Int)
    }

    private var steps = 512
    private var signatureMicroseconds = 10_000
    private var chainBytes = 2 << 20
    /// The remaining number of bytes that name constraint checks may compare: see ``NameConstraints``.
    var comparedBytes = NameConstraints.maximumWork

    /// The number of bytes that can be hashed in about one microsecond. A signature check also hashes the signed bytes.
    private static let digestedBytesPerMicrosecond = 256

    /// Subtracts an operation's cost.
    ///
    /// - Returns: Whether the budget was sufficient. If not, the caller must not do the work.
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
