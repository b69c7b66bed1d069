internal import CausewayPeerProtocols

/// A member's counts of unreliable messages over UDP, and of refused handshakes.
package struct PeerDatagramReport: Sendable, Equatable {
    package let isReady: Bool
    package let sentCount: Int
    package let receivedCount: Int
    package let refusedCount: Int
    /// The maximum message size over UDP in bytes; 0 if there is no DTLS connection.
    package let messageLimit: Int

    init(_ report: DatagramLaneReport) {
        (isReady, sentCount, receivedCount) = (report.isReady, report.sentCount, report.receivedCount)
        (refusedCount, messageLimit) = (report.refusedCount, report.messageLimit)
    }
}
