public import Foundation

/// A ``PeerSession`` event.
public enum PeerEvent: Sendable {
    /// A peer advertises the service. The peer's program chose the pairs in `info`, which are not trusted.
    case found(PeerIdentity, info: [String: String])
    /// A found peer changed its advertised key-value pairs or its display name.
    case updated(PeerIdentity, info: [String: String])
    /// A found peer stopped advertising, or is gone.
    case lost(PeerIdentity)
    /// A peer invites the local peer. Without an answer, the invitation times out at the inviter.
    case invited(PeerInvite)
    /// A peer joined the session. Messages can now be sent to it.
    case joined(PeerIdentity)
    /// The link to a member broke and is being replaced. Messages to it are queued meanwhile.
    case suspended(PeerIdentity)
    /// A new link to the member has replaced the broken link. No message was lost or duplicated.
    case resumed(PeerIdentity)
    /// A peer is no longer a member, or did not become one.
    case left(PeerIdentity, PeerFailure)
    /// A member's message. Reliable messages arrive in sending order.
    case received(Data, from: PeerIdentity)
    /// A member opened a stream.
    case stream(PeerReader, from: PeerIdentity)
    /// A member began to send a file.
    case receiving(PeerTransfer, from: PeerIdentity)
    /// A file is complete.
    case file(PeerFile, from: PeerIdentity)
    /// A file failed, or was cancelled by one side.
    case fileFailed(name: String, PeerFailure, from: PeerIdentity)
    /// A member compares codes. See ``PeerSession/verify(_:_:)``.
    case compare(PeerCode, with: PeerIdentity)
    /// A member proved a pairing secret, or both users saw the same code. The member's key is recorded, unless the
    /// session has ``PeerTrust/any``.
    case paired(PeerIdentity)
    /// A member's key could not be written to the disk. The key is used until the session ends.
    case unsaved(PeerIdentity, PeerFailure)
    /// A peer is not accepted: its key differs from the recorded key (``PeerFailure/Code/identityChanged``), or the
    /// peer lacks the proof that the session's ``PeerTrust`` or a pairing requires (``PeerFailure/Code/unverified``).
    case refused(PeerIdentity, PeerFailure)
}

/// A peer's invitation.
///
/// Only the first answer has an effect. If the program does not answer, the invitation times out at the inviter.
public struct PeerInvite: Sendable {
    /// The inviter. Its key is proven; its name is not.
    public let peer: PeerIdentity
    /// The inviter's bytes, at most 64 KiB. They are not trusted.
    public let context: Data?
    /// How the inviter's key was recognized when its invitation arrived. The value is `paired` also if the inviter has
    /// proven the secret from ``PeerSession/offerPairing(for:)``.
    public let recognition: PeerRecognition
    let invitation: PeerInvitation
    let group: WeakGroup

    /// Joins the inviter and its other members. The result is reported as ``PeerEvent/joined(_:)`` or ``PeerEvent/left(_:_:)``.
    public func accept() {
        guard let group = group.group else { return invitation.decline() }
        invitation.accept(with: group)
    }

    /// Declines the invitation.
    public func decline() { invitation.decline() }
}

/// A weak reference to a peer group. Events contain this value, so that they do not keep the group alive.
struct WeakGroup: Sendable {
    weak let group: PeerGroup?
}

/// A file being received.
public struct PeerTransfer: Sendable {
    /// The sender's file name without directories and control characters.
    public let name: String
    /// The progress of the transfer in bytes. The total is -1 if the sender does not know the file's size.
    public let progress: Progress

    /// Cancels the transfer on both sides. The event ``PeerEvent/fileFailed(name:_:from:)`` follows.
    public func cancel() { progress.cancel() }
}

/// A received file. The file is removed when all copies of this value are released.
public struct PeerFile: Sendable {
    /// The sender's file name without directories and control characters.
    public let name: String
    /// The file's location: in a directory that only the user can read.
    public var url: URL { received.url }
    let received: ReceivedFile

    /// Moves the file to the program's own location.
    ///
    /// - Throws: The file system's error, for example if the destination exists.
    public func move(to place: URL) throws { try FileManager.default.moveItem(at: url, to: place) }
}

/// A short code that two users compare: both see the same only if no other host is between them.
///
/// An attacker has one attempt, which succeeds with a probability of 10^-6. The code cannot be searched offline.
public struct PeerCode: Sendable {
    /// The code as six decimal digits.
    public let digits: String
    /// The code as four words, which encode the same value as the digits.
    public let words: [String]
    let reply: @Sendable (Bool) -> Void

    /// Reports to the peer whether the user saw the same code. If not, the peer is removed with ``PeerFailure/Code/unverified``.
    public func confirm(_ matches: Bool) { reply(matches) }
}
