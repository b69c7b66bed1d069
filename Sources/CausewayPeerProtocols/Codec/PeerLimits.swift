/// Limits of the protocol. A peer that exceeds one is answered with `BYE(too much)`.
package enum PeerLimits {
    /// Payload of a frame on a control link.
    package static let framePayload = 16 << 10
    /// Payload of a `PART` on a lane.
    package static let partPayload = 256 << 10
    package static let message = 16 << 20
    package static let unreliableMessage = 64 << 10
    package static let name = 255
    package static let context = 64 << 10
    package static let members = 32
    package static let streams = 256
    package static let offers = 64
    package static let hello = 4 << 10
    package static let roster = 16 << 10
    package static let lanes = 2
    /// Dialled links that say goodbye at the same time. The oldest one is closed for a further one.
    package static let goodbyes = 64
    /// Bytes of numbered frames that are not acknowledged.
    package static let window = 4 << 20
    package static let streamWindow = 256 << 10
    package static let resourceWindow = 4 << 20
    /// Bytes of unreliable messages, and 64 for each, that the program may hold. More are dropped.
    package static let unreliableHeld = 1 << 20
}

/// Times of the protocol.
package enum PeerTimes {
    package static let greeting = Duration.seconds(5)
    package static let lobby = Duration.seconds(30)
    package static let joining = Duration.seconds(10)
    package static let leaving = Duration.milliseconds(500)
    /// Silence until the dialler of a link asks for a sign of life. The other side asks after ``suspectAfter``, so that one question and one
    /// answer serve both.
    package static let pingAfter = Duration.seconds(6)
    package static let suspectAfter = Duration.milliseconds(6_500)
    /// Long enough for four repetitions of a lost question by TCP, which come 0.2, 0.6, 1.4 and 3 s after it (RFC 6298 §2).
    package static let lostAfter = Duration.milliseconds(9_500)
    /// An alarm that is so late means that this side did not run.
    package static let lateAlarm = Duration.seconds(1)
    /// How long a broken link is replaced, by what ended it.
    package static let graceAfterFailure = Duration.seconds(10)
    package static let graceAfterClose = Duration.seconds(6)
    package static let acknowledgment = Duration.milliseconds(50)
    /// Delays before each attempt to replace a link. The last one is repeated.
    package static let redials: [Duration] = [.zero, .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2)]
    /// How long the larger peer waits for the smaller one to dial.
    package static let largerDials = Duration.seconds(3)
    /// How long one attempt to make a datagram lane may take.
    package static let laneHandshake = Duration.seconds(5)
    /// Delays after each datagram lane that failed. The last one is repeated.
    package static let laneRetries: [Duration] = [.milliseconds(250), .seconds(2), .seconds(10), .seconds(60)]
    /// The shortest time between two dials of datagram lanes to one member.
    package static let laneDialPause = Duration.seconds(1)
    /// Datagram lanes: time without an answer until a probe, the time between probes, and until the lane is lost.
    package static let laneProbe = Duration.milliseconds(500)
    package static let laneLost = Duration.seconds(5)
    package static let laneIdle = Duration.seconds(60)
}
