/// Why a link, an invitation or a membership ended.
package enum PeerReason: UInt8, Sendable, CaseIterable, Error {
    /// The peer left the session.
    case left = 0
    /// The peer declined the invitation.
    case declined = 1
    /// The session has its maximum number of peers.
    case full = 2
    /// A phase took longer than its deadline.
    case timedOut = 3
    /// Another link connects the same two sessions.
    case duplicate = 4
    /// The peer sent what the protocol does not allow.
    case protocolViolation = 5
    /// The peers have no common protocol version.
    case versionMismatch = 6
    /// The peer id is known with another key.
    case identityChanged = 7
    /// The program of one side, or the user who compared the codes, did not accept the peer's key.
    case notVerified = 8
    /// The peer exceeded a limit.
    case tooMuch = 9
    /// The peer's process ends.
    case shuttingDown = 10
    /// The peer does not implement what was requested.
    case unsupported = 11
    /// The peer could not be dialled. Never on the wire.
    case unreachable = 0x80
    /// The link ended or was silent, and no other could be made in time. Never on the wire.
    case lost = 0x81

    /// The reason of a received code. Codes of later versions count as ``unsupported``.
    init(wire: UInt64) {
        let known = UInt8(exactly: wire).flatMap(PeerReason.init(rawValue:))
        self = known.flatMap { $0.rawValue < 0x80 ? $0 : nil } ?? .unsupported
    }
}

/// The state of a member as the program sees it.
package enum MemberState: Equatable, Sendable {
    case connecting
    case connected
    /// The link broke and is being replaced. Calls still work and are queued. Not reported by the drop-in.
    case suspended
    /// The link was replaced. Nothing was lost or doubled.
    case resumed
    /// The last state. Nothing of the member follows.
    case notConnected(PeerReason)
}
