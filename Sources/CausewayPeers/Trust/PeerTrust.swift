public import Foundation
internal import CausewayPeerProtocols

/// Which peers a session accepts. A peer is always refused with ``PeerFailure/Code/identityChanged`` if another key is
/// recorded for its ID.
public enum PeerTrust: Hashable, Sendable {
    /// Accepts every peer. Peers' keys are kept in memory until the session ends. They are neither read from the disk
    /// nor written to it.
    case any
    /// Trust on first use: a joined peer's key is recorded on the disk.
    case pinned
    /// Accepts only peers with a recorded key, and peers that prove a pairing secret.
    case known
    /// Accepts only paired peers: those that proved a pairing secret or compared codes, now or earlier.
    case paired

    var policy: PeerPolicy {
        switch self {
        case .any: .any
        case .pinned: .pinned
        case .known: .known
        case .paired: .paired
        }
    }
}

/// The result of comparing a peer's key with the recorded key.
public enum PeerRecognition: Hashable, Sendable {
    /// No key is recorded for the peer's ID.
    case unknown
    /// The key equals the recorded one.
    case pinned
    /// The peer's key is recorded. In addition, the users proved a secret or compared codes.
    case paired
    /// Another key is recorded for the peer's number.
    case changed

    init(_ standing: PeerStanding) {
        switch standing {
        case .unknown: self = .unknown
        case .pinned: self = .pinned
        case .paired: self = .paired
        case .changed: self = .changed
        }
    }
}

/// A peer's recorded key.
public struct PeerPin: Hashable, Sendable {
    /// The peer, with its name when the key was recorded.
    public let peer: PeerIdentity
    /// When the key was recorded, in whole seconds.
    public let date: Date
    /// Whether the peer is paired: the users proved a secret or compared codes.
    public let isPaired: Bool

    init(_ entry: PinEntry) {
        peer = PeerIdentity(PeerInfo(key: entry.key, name: entry.name))
        date = Date(timeIntervalSince1970: Double(entry.firstSeen))
        isPaired = entry.isPaired
    }
}
