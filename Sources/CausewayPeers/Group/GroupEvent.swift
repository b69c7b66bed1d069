internal import CausewayPeerProtocols
package import Foundation

/// A group event.
package enum GroupEvent: Sendable {
    case connecting(PeerIdentity)
    case connected(PeerIdentity)
    case notConnected(PeerIdentity, PeerFailure)
    case suspended(PeerIdentity)
    case resumed(PeerIdentity)
    /// A peer has sent its certificates, and the program must answer whether it accepts them.
    ///
    /// The certificates are in DER, the peer's own first. The list is empty if the peer has none.
    case certificate(PeerIdentity, [Data], CertificateQuestion)
    case message(PeerIdentity, Data, PeerReceipt)
    case stream(PeerIdentity, name: String, PeerInputStream)
    case fileStarted(PeerIdentity, name: String, Progress)
    case fileFinished(PeerIdentity, name: String, Result<ReceivedFile, PeerFailure>, PeerReceipt)
    case verification(PeerIdentity, PeerVerification)
    /// The state of a member's datagram lane has changed. A datagram lane is a DTLS connection for unreliable messages.
    /// The event is only for diagnosis. Without this connection, unreliable messages use the control link.
    case datagramLane(PeerIdentity, PeerDatagramLane)
    /// A member's key is recorded as paired.
    case paired(PeerIdentity)
    /// A member's key could not be written to the disk.
    case unsaved(PeerIdentity, PeerFailure)
    /// A peer has proved that it owns its key, but this side does not accept the peer.
    case refused(PeerIdentity, PeerFailure)

    /// Whether the program receives the event even if it has already left the group.
    var isLast: Bool {
        if case .notConnected = self { true } else { false }
    }
}

/// A change to the DTLS connection that carries unreliable messages.
package enum PeerDatagramLane: Sendable, Equatable {
    case ready
    /// A host attempted a DTLS handshake without knowing the connection's key.
    case refused(PeerFailure)
    /// Unreliable messages use the control link until a new DTLS connection is ready.
    case down(PeerFailure)
}

/// How far the comparison of codes with a peer has come.
package enum PeerVerification: Sendable {
    /// Six digits and four words that both users must compare.
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

/// Represents a received message, or a file whose transfer has ended. The receiver limits unconsumed messages and
/// files. This item counts against the limit until this object is released.
package final class PeerReceipt: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
