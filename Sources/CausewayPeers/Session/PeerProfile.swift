/// The identity with which a session takes part: a display name, and its key's lifetime.
public struct PeerProfile: Sendable {
    enum Kind: Sendable {
        case persistent
        case rotating
        case fixed(LocalPeer)
    }

    /// The display name for other peers.
    public let name: String
    let kind: Kind

    /// An identity that stays the same in each run of this user's programs.
    ///
    /// The key is stored in `$XDG_DATA_HOME/causeway/peers`, in a file that only the user can read. Peers that met this identity before
    /// recognize it.
    ///
    /// - Parameter name: 1 to 63 bytes of UTF-8. Each name has a separate key.
    public static func persistent(named name: String) -> PeerProfile { PeerProfile(name: name, kind: .persistent) }

    /// An identity with a new random ID and a new key for each session, so that observers cannot track the user by the
    /// ID or the key.
    ///
    /// - Parameter name: 1 to 63 bytes of UTF-8. It is visible to all hosts on the network.
    public static func rotating(named name: String) -> PeerProfile { PeerProfile(name: name, kind: .rotating) }

    var isPersistent: Bool { if case .persistent = kind { true } else { false } }

    /// Returns the local peer. For a persistent profile, it reads the identity from the store; if there is none, it
    /// creates and stores one.
    func local() throws(PeerFailure) -> LocalPeer {
        guard (1...63).contains(name.utf8.count) else {
            throw PeerFailure(.invalid, "a display name has 1 to 63 bytes of UTF-8, not \(name.utf8.count)")
        }
        switch kind {
        case .rotating: return try LocalPeer(named: name)
        case .persistent: return try LocalPeer.persistent(named: name, in: PeerStore())
        case .fixed(let local): return local
        }
    }
}
