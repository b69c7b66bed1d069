/// Progress in a code comparison with a member.
package enum VerificationEvent: Sendable, Equatable {
    /// Show the code, then call ``PeerMesh/confirm(_:matches:at:)``.
    case compare(ShortCode)
    /// Both users confirmed.
    case verified
    /// A user did not confirm, or the protocol failed. The membership ends with ``PeerReason/notVerified``.
    case failed
}

/// A short authentication string. Both users see the same code only without a man in the middle.
package struct ShortCode: Sendable, Equatable {
    /// The code as 6 decimal digits.
    package let digits: String
    /// The code as 4 words, which have about the same entropy as the digits.
    package let words: [String]
}
