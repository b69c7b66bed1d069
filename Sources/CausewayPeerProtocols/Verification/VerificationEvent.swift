/// Progress of comparing codes with a member.
package enum VerificationEvent: Sendable, Equatable {
    /// Show the code, then call ``PeerMesh/confirm(_:matches:at:)``.
    case compare(ShortCode)
    /// Both users confirmed.
    case verified
    /// One of them did not, or the protocol failed. The link ends with ``PeerReason/notVerified``.
    case failed
}

/// A code that both users see only if no third peer is between them.
package struct ShortCode: Sendable, Equatable {
    /// 6 decimal digits.
    package let digits: String
    /// 4 words with the same entropy.
    package let words: [String]
}
