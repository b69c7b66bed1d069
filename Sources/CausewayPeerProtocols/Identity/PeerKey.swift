internal import CausewayWire

/// A peer's identity: a 64-bit ID, and the first 128 bits of its public key's SHA-256 digest.
///
/// Discovery announces both parts. TLS proves only the second part. Keys are ordered by digest. Some protocol rules
/// treat the two ends of a link differently, depending on which peer has the smaller key.
package struct PeerKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The peer's ID. The peer chose this ID when it created its identity.
    package let id: UInt64
    /// The digest's first 8 bytes, big-endian.
    package let high: UInt64
    /// The digest's second 8 bytes, big-endian.
    package let low: UInt64

    package init(id: UInt64, high: UInt64, low: UInt64) {
        (self.id, self.high, self.low) = (id, high, low)
    }

    /// Creates a key from a public key.
    ///
    /// - Parameters:
    ///   - id: The ID that the peer chose.
    ///   - publicKey: The key's `SubjectPublicKeyInfo` in DER.
    package init(id: UInt64, publicKey: [UInt8]) {
        let digest = PeerDigest.sha256(publicKey)
        self.init(id: id, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
    }

    /// The digest's first 16 bytes.
    package var digestBytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// Whether a SHA-256 digest, complete or cut to 16 bytes or more, belongs to this key.
    package func matches(fingerprint: [UInt8]) -> Bool {
        fingerprint.count >= 16 && fingerprint.prefix(16).elementsEqual(digestBytes)
    }

    package static func < (left: PeerKey, right: PeerKey) -> Bool {
        (left.high, left.low, left.id) < (right.high, right.low, right.id)
    }

    package var description: String { "\(String(id, radix: 16))/\(String(high, radix: 16))" }
}

/// The description of a peer. The peer's key is verified only when a link exists. The peer chooses its name and its
/// agent text itself.
package struct PeerInfo: Hashable, Sendable {
    package var key: PeerKey
    /// The display name, at most 255 UTF-8 bytes.
    package var name: String
    /// The key's `SubjectPublicKeyInfo` in DER. It is empty if the peer is known only from discovery.
    package var publicKey: [UInt8]
    /// The peer's software product and version.
    package var agent: String

    package init(key: PeerKey, name: String, publicKey: [UInt8] = [], agent: String = "") {
        (self.key, self.name, self.publicKey, self.agent) = (key, name, publicKey, agent)
    }
}
