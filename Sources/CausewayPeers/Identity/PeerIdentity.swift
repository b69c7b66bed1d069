/// A peer as other peers know it: a number, its public key's digest, and a display name.
///
/// Two values are equal if number and digest are equal. The display name is chosen by the peer and proves nothing.
public struct PeerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// A number chosen by the peer at random when its identity was created.
    public let id: UInt64
    /// The first 16 bytes of the public key's SHA-256 digest (SubjectPublicKeyInfo, RFC 5280 §4.1.2.7).
    public let fingerprint: [UInt8]
    /// The display name, at most 63 bytes of UTF-8.
    public let name: String

    package init(id: UInt64, fingerprint: [UInt8], name: String) {
        self.id = id
        self.fingerprint = fingerprint
        self.name = name
    }

    /// Whether number and key digest are equal.
    public static func == (lhs: PeerIdentity, rhs: PeerIdentity) -> Bool {
        lhs.id == rhs.id && lhs.fingerprint == rhs.fingerprint
    }

    /// Adds the peer's number and key digest to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(fingerprint)
    }

    /// The display name and the key digest's first digits.
    public var description: String {
        let digits = fingerprint.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(name) (\(digits))"
    }
}
