internal import CausewayWire

/// The identity of a peer: a 64-bit number and the first 128 bits of the SHA-256 digest of its public key.
///
/// Discovery announces both parts, TLS proves the second. Two keys are ordered by their digests; protocol rules that treat the two ends of a
/// link differently name the *smaller* peer.
package struct PeerKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number that the peer chose when its identity was created.
    package let id: UInt64
    /// Bits 0-63 of the digest.
    package let high: UInt64
    /// Bits 64-127 of the digest.
    package let low: UInt64

    package init(id: UInt64, high: UInt64, low: UInt64) {
        (self.id, self.high, self.low) = (id, high, low)
    }

    /// Creates the key of the peer with a public key.
    ///
    /// - Parameter publicKey: The DER bytes of the key's `SubjectPublicKeyInfo`.
    package init(id: UInt64, publicKey: [UInt8]) {
        let digest = PeerDigest.sha256(publicKey)
        self.init(id: id, high: digest[0..<8].bigEndianInteger, low: digest[8..<16].bigEndianInteger)
    }

    /// The 16 bytes of the digest's first half.
    package var digestBytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// Whether a complete digest of 32 bytes, or its first 16, belongs to this key.
    package func matches(fingerprint: [UInt8]) -> Bool {
        fingerprint.count >= 16 && fingerprint.prefix(16).elementsEqual(digestBytes)
    }

    package static func < (left: PeerKey, right: PeerKey) -> Bool {
        (left.high, left.low, left.id) < (right.high, right.low, right.id)
    }

    package var description: String { "\(String(id, radix: 16))/\(String(high, radix: 16))" }
}

/// The description of a peer. The key is verified; name and agent are text that the peer chose.
package struct PeerInfo: Hashable, Sendable {
    package var key: PeerKey
    /// At most 255 bytes of UTF-8.
    package var name: String
    /// The DER bytes of the key's `SubjectPublicKeyInfo`; empty if only discovery knows the peer.
    package var publicKey: [UInt8]
    /// Product and version of the peer's software.
    package var agent: String

    package init(key: PeerKey, name: String, publicKey: [UInt8] = [], agent: String = "") {
        (self.key, self.name, self.publicKey, self.agent) = (key, name, publicKey, agent)
    }
}
