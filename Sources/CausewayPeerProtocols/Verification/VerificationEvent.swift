/// The progress of a code comparison with a member. Both users compare a short code.
package enum VerificationEvent: Sendable, Equatable {
    /// Show the code, then call ``PeerMesh/confirm(_:matches:at:)``.
    case compare(ShortCode)
    /// Both users have confirmed that the codes are equal.
    case verified
    /// A user did not confirm the code, or the protocol failed. The membership then ends with
    /// ``PeerReason/notVerified``.
    case failed
}

/// A short authentication string that both users compare. The codes differ if an attacker is between both peers.
package struct ShortCode: Sendable, Equatable {
    /// The code as 6 decimal digits.
    package let digits: String
    /// The code as 4 words, which have about the same entropy as the digits.
    package let words: [String]
}
