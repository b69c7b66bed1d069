/// The identity under which a session takes part: a display name, and how long its key lives.
public struct PeerProfile: Sendable {
    enum Kind: Sendable {
        case persistent
        case rotating
        case fixed(LocalPeer)
    }

    /// The display name that other peers see.
    public let name: String
    let kind: Kind

    /// An identity that is the same in each run of the programs of this user.
    ///
    /// The key is stored in `$XDG_DATA_HOME/causeway/peers`, in a file that only the user can read. Peers that met this one before recognize it.
    ///
    /// - Parameter name: 1 to 63 bytes of UTF-8. Each name has a separate key.
    public static func persistent(named name: String) -> PeerProfile { PeerProfile(name: name, kind: .persistent) }

    /// An identity with a new number and a new key for each session, so that observers cannot follow the user from place to place.
    ///
    /// - Parameter name: 1 to 63 bytes of UTF-8. It is visible to all hosts of the network.
    public static func rotating(named name: String) -> PeerProfile { PeerProfile(name: name, kind: .rotating) }

    var isPersistent: Bool { if case .persistent = kind { true } else { false } }

    /// The local peer. A persistent one is read, or made and stored.
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
