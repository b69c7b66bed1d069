internal import CausewayPeerProtocols
package import Foundation

/// A group event.
package enum GroupEvent: Sendable {
    case connecting(PeerIdentity)
    case connected(PeerIdentity)
    case notConnected(PeerIdentity, PeerFailure)
    case suspended(PeerIdentity)
    case resumed(PeerIdentity)
    /// A peer's certificates in DER; empty if it has none. The peer's own certificate comes first. The program must
    /// answer whether it accepts them.
    case certificate(PeerIdentity, [Data], CertificateQuestion)
    case message(PeerIdentity, Data, PeerReceipt)
    case stream(PeerIdentity, name: String, PeerInputStream)
    case fileStarted(PeerIdentity, name: String, Progress)
    case fileFinished(PeerIdentity, name: String, Result<ReceivedFile, PeerFailure>, PeerReceipt)
    case verification(PeerIdentity, PeerVerification)
    /// A member's datagram lane, the DTLS connection for unreliable messages, changed. The event is for diagnosis only:
    /// without this connection, unreliable messages use the control link.
    case datagramLane(PeerIdentity, PeerDatagramLane)
    /// A member's key is recorded as paired.
    case paired(PeerIdentity)
    /// A member's key could not be written to the disk.
    case unsaved(PeerIdentity, PeerFailure)
    /// A peer with a proven key is not accepted.
    case refused(PeerIdentity, PeerFailure)

    /// Whether the event is still delivered after the program left the group.
    var isLast: Bool {
        if case .notConnected = self { true } else { false }
    }
}

/// A change to the DTLS connection for unreliable messages.
package enum PeerDatagramLane: Sendable, Equatable {
    case ready
    /// A host without the DTLS connection's key attempted a handshake.
    case refused(PeerFailure)
    /// Unreliable messages use the control link until a new DTLS connection is ready.
    case down(PeerFailure)
}

/// Progress in comparing codes with a peer.
package enum PeerVerification: Sendable {
    /// Six digits and four words that both users must see.
    case compare(digits: String, words: [String])
    case verified
    case failed
}

/// A received file. The file and its directory are removed when this object is released.
package final class ReceivedFile: Sendable {
    package let url: URL

    init(_ url: URL) {
        self.url = url
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}

/// Asks the program whether a peer's certificate is accepted. Only the program's first answer has an effect.
package final class CertificateQuestion: Sendable {
    private let reply: @Sendable (Bool) -> Void

    init(_ reply: @escaping @Sendable (Bool) -> Void) {
        self.reply = reply
    }

    package func answer(_ isAccepted: Bool) { reply(isAccepted) }
}

/// Represents a received message, or a file whose transfer has ended. Until this object is released, the message's
/// bytes or the file count against the receiver's limit on unconsumed messages or files.
package final class PeerReceipt: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
