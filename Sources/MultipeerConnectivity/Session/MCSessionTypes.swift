/// The minimum number of peers in a session, including the local peer.
///
/// Counterpart: macOS 10.10, iOS 7.
public let kMCSessionMinimumNumberOfPeers = 2

/// The maximum number of peers in a session, including the local peer.
///
/// Counterpart: macOS 10.10, iOS 7.
public let kMCSessionMaximumNumberOfPeers = 8

/// How messages are delivered.
///
/// Counterpart: `MCSessionSendDataMode`, macOS 10.10, iOS 7.
public enum MCSessionSendDataMode: Int, Sendable {
    /// Every message arrives, in call order.
    case reliable = 0
    /// A message is sent at once or dropped. The order may change.
    case unreliable = 1
}

/// A peer's state in a session.
///
/// Counterpart: `MCSessionState`, macOS 10.10, iOS 7.
public enum MCSessionState: Int, Sendable {
    /// The peer is not in the session.
    case notConnected = 0
    /// A connection to the peer is being established.
    case connecting = 1
    /// The peer is connected to the session.
    case connected = 2
}

/// A program's encryption preference. Every session is encrypted, whichever value is set.
///
/// Counterpart: `MCEncryptionPreference`, macOS 10.10, iOS 7.
public enum MCEncryptionPreference: Int, Sendable {
    /// Encryption is preferred.
    case optional = 0
    /// Encryption is required.
    case required = 1
    /// Encryption is not required. The session is encrypted nevertheless.
    case none = 2
}
