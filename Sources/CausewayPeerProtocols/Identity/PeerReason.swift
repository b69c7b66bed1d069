/// Why a link, an invitation or a membership ended.
package enum PeerReason: UInt8, Sendable, CaseIterable, Error {
    /// The peer left the session.
    case left = 0
    /// The peer declined the invitation.
    case declined = 1
    /// The session is full: it already has its maximum number of peers.
    case full = 2
    /// A step took longer than its deadline, for example the handshake or the answer to an invitation.
    case timedOut = 3
    /// Another link already connects the two sessions, or will soon connect them.
    case duplicate = 4
    /// The peer violated the protocol.
    case protocolViolation = 5
    /// The peers have no common protocol version.
    case versionMismatch = 6
    /// The peer ID is recorded with another key.
    case identityChanged = 7
    /// A program, its policy, or a user who compared codes did not accept the peer's key.
    case notVerified = 8
    /// The peer exceeded a limit.
    case tooMuch = 9
    /// The peer's process is ending.
    case shuttingDown = 10
    /// The peer does not implement what was requested.
    case unsupported = 11
    /// The peer could not be dialled. This local reason is never sent.
    case unreachable = 0x80
    /// The link failed or went silent, and no replacement was established in time. This reason is local and is never
    /// sent.
    case lost = 0x81

    /// Decodes a received reason. Unknown codes count as ``unsupported``.
    init(wire: UInt64) {
        let known = UInt8(exactly: wire).flatMap(PeerReason.init(rawValue:))
        self = known.flatMap { $0.rawValue < 0x80 ? $0 : nil } ?? .unsupported
    }
}

/// A member's state as the program sees it.
package enum MemberState: Equatable, Sendable {
    case connecting
    case connected
    /// The link to the member broke and is being replaced. Calls still work, and their output is queued. The drop-in
    /// module MultipeerConnectivity does not report this state.
    case suspended
    /// The link was replaced. No reliable frame was lost or duplicated.
    case resumed
    /// The member's final state: the member is no longer connected. No event for this member follows.
    case notConnected(PeerReason)
}
