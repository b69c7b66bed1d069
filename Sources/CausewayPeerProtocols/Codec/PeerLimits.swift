/// Limits of the peer protocol. They are in bytes, unless the comment on a limit says otherwise. If a peer exceeds a
/// limit, this side sends `BYE(too much)`.
package enum PeerLimits {
    /// Maximum payload of a frame on a control link.
    package static let framePayload = 16 << 10
    /// Maximum content of a `PART` frame on a resource lane. A resource lane is an extra link beside the control link.
    /// It carries only bytes of resources.
    package static let partPayload = 256 << 10
    /// Maximum size of a reliable message.
    package static let message = 16 << 20
    package static let unreliableMessage = 64 << 10
    /// The number of bytes added to each message's size, so that a flood of empty messages is limited too. These bytes
    /// count while the message is queued, is sent, or waits for the program. Flow control adds them to each reliable
    /// `DATA` frame.
    package static let messageOverhead = 64
    package static let name = 255
    /// Maximum size of an invitation's context: the inviter's bytes for the invited program.
    package static let context = 64 << 10
    /// Maximum number of members per session, including the local peer.
    package static let members = 32
    /// Maximum number of open streams per member and direction.
    package static let streams = 256
    /// Maximum number of open resources per member and direction.
    ///
    /// The number also limits incoming resources that have ended and whose end events the program has not taken. At
    /// this limit, no further resource is requested.
    package static let offers = 64
    /// Maximum number of a member's incoming resources that have ended while the program has not taken their end
    /// events. Only a sender that cancels its offers can reach this limit.
    package static let endedOffers = 1_024
    package static let hello = 4 << 10
    package static let roster = 16 << 10
    /// Maximum number of resource lanes per member. A resource lane is a connection that carries only resource bytes.
    package static let lanes = 2
    /// Maximum number of dialled links that may flush their final output at the same time. Above this number, the
    /// oldest link is closed at once.
    package static let goodbyes = 64
    /// The flow-control window for reliable messages. Frames with content also wait while unacknowledged frames have
    /// this size.
    package static let window = 4 << 20
    /// Maximum number of queued frames without content. These frames are sent without waiting for acknowledgments. So
    /// all unacknowledged frames together may have up to twice the size of ``window``.
    package static let controlFrames = 16 << 10
    /// Flow-control window per stream.
    package static let streamWindow = 256 << 10
    /// The flow-control window for each resource, in bytes.
    package static let resourceWindow = 4 << 20
    /// Maximum size of unreliable messages that the program has not consumed, plus ``messageOverhead`` for each
    /// message. A message that would exceed this limit is dropped.
    package static let unreliableHeld = 1 << 20
}

/// Protocol timeouts and intervals.
package enum PeerTimes {
    /// How long to wait for HELLO.
    package static let greeting = Duration.seconds(5)
    /// How long an invitation may wait for its answer, by default.
    package static let lobby = Duration.seconds(30)
    /// How long the certificate exchange may take.
    package static let joining = Duration.seconds(10)
    /// How long a link that is being closed may send its remaining output.
    package static let leaving = Duration.milliseconds(500)
    /// How long the peer may be silent before the side that dialled sends PING. The other side waits a little longer,
    /// until ``suspectAfter``. It usually gets the dialler's PING before that, so one PING and its PONG test the link
    /// for both sides.
    package static let pingAfter = Duration.seconds(6)
    package static let suspectAfter = Duration.milliseconds(6_500)
    /// How long a member may be silent before it counts as lost. By then, TCP has retransmitted a lost PING four times:
    /// 0.2, 0.6, 1.4 and 3 s after the PING (RFC 6298 §2).
    package static let lostAfter = Duration.milliseconds(9_500)
    /// If a timer fires this late or later, assume that this process did not run for some time. The peer may have sent
    /// data meanwhile.
    package static let lateAlarm = Duration.seconds(1)
    /// How long to try to replace a broken link. After a local error, ``graceAfterFailure`` applies. If the peer closed
    /// the link, ``graceAfterClose`` applies.
    package static let graceAfterFailure = Duration.seconds(10)
    package static let graceAfterClose = Duration.seconds(6)
    /// Maximum delay before an acknowledgment.
    package static let acknowledgment = Duration.milliseconds(50)
    /// The delay before each attempt to replace a link. The final delay also applies to all later attempts.
    package static let redials: [Duration] = [.zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2)]
    /// How long the peer with the larger ``PeerKey`` waits for the other peer to dial. Then it dials.
    package static let largerDials = Duration.seconds(3)
    /// The time limit for the handshake of a DTLS connection that carries unreliable messages.
    package static let laneHandshake = Duration.seconds(5)
    /// The delays after failures of a DTLS connection for unreliable messages. Each consecutive failure uses the next
    /// delay. The last delay is used for all further failures.
    package static let laneRetries: [Duration] = [.milliseconds(250), .seconds(2), .seconds(10), .seconds(60)]
    /// Minimum time between two dials of DTLS connections for unreliable messages to one member.
    package static let laneDialPause = Duration.seconds(1)
    /// How long to wait for an answer to a datagram before a probe is sent on its DTLS connection. Further probes
    /// follow at the same interval.
    package static let laneProbe = Duration.milliseconds(500)
    /// How long to wait for an answer to a datagram before its DTLS connection is lost.
    package static let laneLost = Duration.seconds(5)
    /// The time after which an idle DTLS connection for unreliable messages must be probed. The dialler sends the
    /// probe, which keeps the NAT mapping alive.
    package static let laneIdle = Duration.seconds(60)
    /// The longest timeout that a program can set: about a century. A longer timeout is reduced to this value.
    /// Otherwise, with the largest possible `Duration`, adding the current time would overflow.
    package static let longestLimit = Duration.seconds(36_525 * 86_400)

    /// Limits a timeout that a program set to the range from zero to ``longestLimit``.
    package static func bounded(_ limit: Duration) -> Duration { min(max(limit, .zero), longestLimit) }

    /// Returns the time at which the program's timeout ends.
    package static func end(of limit: Duration, from now: Duration) -> Duration { now + bounded(limit) }
}
