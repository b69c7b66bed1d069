public import Foundation

/// An event of a ``PeerSession``.
public enum PeerEvent: Sendable {
    /// A peer advertises the service. The pairs are those of its program, and not trusted.
    case found(PeerIdentity, info: [String: String])
    /// A found peer changed its pairs or its display name.
    case updated(PeerIdentity, info: [String: String])
    /// A found peer stopped advertising, or is gone.
    case lost(PeerIdentity)
    /// A peer invites the local one. Unanswered, the inviter's time runs out.
    case invited(PeerInvite)
    /// A peer is a member now. Messages to it can be sent.
    case joined(PeerIdentity)
    /// The link to a member broke and is being replaced. Messages still work: they wait.
    case suspended(PeerIdentity)
    /// The link was replaced. Nothing was lost or doubled.
    case resumed(PeerIdentity)
    /// A peer is no member any more, or did not become one.
    case left(PeerIdentity, PeerFailure)
    /// A message of a member. Reliable ones come in the order in which the member sent them.
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
    /// A member proved the secret of a pairing, or both users saw the same code. Its key is recorded, unless the session has
    /// ``PeerTrust/any``.
    case paired(PeerIdentity)
    /// The key of a member could not be written to the disk. It counts while the session lives.
    case unsaved(PeerIdentity, PeerFailure)
    /// A peer is not accepted: its key is not the recorded one (``PeerFailure/Code/identityChanged``), or the session's ``PeerTrust`` or a
    /// pairing demands more (``PeerFailure/Code/unverified``).
    case refused(PeerIdentity, PeerFailure)
}

/// An invitation from a peer.
///
/// The first answer counts. An invite that is released without an answer lets the inviter's time run out.
public struct PeerInvite: Sendable {
    /// The inviter. Its key is proven; its name is not.
    public let peer: PeerIdentity
    /// The bytes that the inviter sent, at most 64 KiB. They are not trusted.
    public let context: Data?
    /// What was known of the inviter's key when its invitation came. `paired` also if it has proven the secret that this peer shows.
    public let recognition: PeerRecognition
    let invitation: PeerInvitation
    let group: WeakGroup

    /// Joins the inviter and its other members. The result comes as ``PeerEvent/joined(_:)`` or ``PeerEvent/left(_:_:)``.
    public func accept() {
        guard let group = group.group else { return invitation.decline() }
        invitation.accept(with: group)
    }

    /// Declines.
    public func decline() { invitation.decline() }
}

/// A group that an event refers to, but does not keep.
struct WeakGroup: Sendable {
    weak let group: PeerGroup?
}

/// A file that is being received.
public struct PeerTransfer: Sendable {
    /// The last path component that the sender chose, without control characters.
    public let name: String
    /// Counts bytes. The total is -1 if the sender does not know it.
    public let progress: Progress

    /// Cancels the transfer on both sides. ``PeerEvent/fileFailed(name:_:from:)`` follows.
    public func cancel() { progress.cancel() }
}

/// A file that was received. It is removed when the last copy of the value is released.
public struct PeerFile: Sendable {
    /// The last path component that the sender chose, without control characters.
    public let name: String
    /// Where the file is: in a directory that only the user can read.
    public var url: URL { received.url }
    let received: ReceivedFile

    /// Moves the file to a place of the program.
    ///
    /// - Throws: The error of the file system, for example if the place exists.
    public func move(to place: URL) throws { try FileManager.default.moveItem(at: url, to: place) }
}

/// A short code that two users compare: both see the same only if no other host is between them.
///
/// An attacker has one attempt in 10^6; the code cannot be searched offline.
public struct PeerCode: Sendable {
    /// Six decimal digits.
    public let digits: String
    /// Four words with the same content.
    public let words: [String]
    let reply: @Sendable (Bool) -> Void

    /// Tells the peer whether the user saw the same code. If not, the peer is removed with ``PeerFailure/Code/unverified``.
    public func confirm(_ matches: Bool) { reply(matches) }
}
