internal import CausewayPeerProtocols

/// Unreliable messages of one member that travelled over UDP, and the handshakes that were refused.
package struct PeerDatagramReport: Sendable, Equatable {
    package let isReady: Bool
    package let sentCount: Int
    package let receivedCount: Int
    package let refusedCount: Int
    /// The maximum size of a message over UDP in bytes; 0 without a lane.
    package let messageLimit: Int

    init(_ report: DatagramLaneReport) {
        (isReady, sentCount, receivedCount) = (report.isReady, report.sentCount, report.receivedCount)
        (refusedCount, messageLimit) = (report.refusedCount, report.messageLimit)
    }
}
