package import Causeway

/// The local peer's identity: number, key, certificate, and display name.
package struct LocalPeer: Sendable {
    package let peer: PeerIdentity
    package let identity: SecIdentity
    /// The public key (SubjectPublicKeyInfo, RFC 5280 §4.1.2.7).
    package let publicKey: [UInt8]
    let key: PeerKeyPair

    private init(id: UInt64, name: String, key: PeerKeyPair) {
        peer = PeerIdentity(id: id, fingerprint: Array(PeerKeyPair.digest(key.publicKey).prefix(16)), name: name)
        identity = key.identity
        publicKey = key.publicKey
        self.key = key
    }

    /// Creates a key on the curve P-256.
    ///
    /// - Throws: ``PeerFailure`` with `unsupported` if the TLS library cannot be used.
    package init(named name: String, id: UInt64 = .random(in: 1...UInt64.max)) throws(PeerFailure) {
        self.init(id: id, name: name, key: try PeerKeyPair())
    }

    /// Reads the identity with this number, or creates and writes it.
    ///
    /// - Throws: ``PeerFailure`` with `file` if the file cannot be read or written, or if others may read it.
    package static func stored(named name: String, id: UInt64) throws(PeerFailure) -> LocalPeer {
        let store = try PeerStore()
        if let key = try store.key(id) { return LocalPeer(id: id, name: name, key: key) }
        let made = try LocalPeer(named: name, id: id)
        try store.write(made.key, id)
        return made
    }

    /// Reads this user's identity with this name, or creates and writes it.
    ///
    /// The number is derived from the key, so two users with the same name have different numbers.
    static func persistent(named name: String, in store: PeerStore) throws(PeerFailure) -> LocalPeer {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { max(1, bytes.reduce(0) { $0 << 8 | UInt64($1) }) }
        let slot = number(PeerKeyPair.digest([UInt8](name.utf8)).prefix(8))
        let stored = try store.key(slot)
        let key = if let stored { stored } else { try PeerKeyPair() }
        if stored == nil { try store.write(key, slot) }
        return LocalPeer(id: number(PeerKeyPair.digest(key.publicKey).dropFirst(16).prefix(8)), name: name, key: key)
    }

    /// Writes the key, so that ``stored(named:id:)`` finds it.
    package func store() throws(PeerFailure) { try PeerStore().write(key, peer.id) }
}
