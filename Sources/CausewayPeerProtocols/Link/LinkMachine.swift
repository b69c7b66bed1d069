internal import CausewayTypes

/// The state of a link: its phase, the phase's deadline, and the frames that the phase permits. The mesh decides when a
/// phase ends.
struct LinkMachine: ReturningMachine, Sendable {
    typealias Action = Alarm

    enum Phase: Equatable, Sendable {
        /// This side is connecting to the peer.
        case dialing
        /// The link waits for HELLO.
        case greeting
        /// The link has no member yet. It waits for the answer to an invitation, or until another member introduces the
        /// peer.
        case lobby
        /// The two peers exchange their certificates.
        case joining
        case joined
        /// The link carries only the bytes of resources. A separate control link to the same member carries all other
        /// frames.
        case lane
        /// The link sends its remaining output. It ignores input, except acknowledgments and BYE.
        case leaving(PeerReason)
    }

    enum Verdict: Equatable, Sendable { case handle, ignore, refuse(PeerReason) }

    enum Alarm: Equatable, Sendable { case keepalive(Keepalive.Alarm), expired }

    private enum Timer: Sendable {
        case off
        /// The current phase ends at this time.
        case limit(Duration)
        case keepalive(Keepalive)
    }

    private let isDialler: Bool
    private(set) var phase: Phase
    private var timer = Timer.off

    init(_ phase: Phase, at now: Duration) {
        self.phase = phase
        isDialler = phase == .dialing
        enter(phase, at: now)
    }

    /// Enters a phase and sets its timer.
    ///
    /// - Parameter limit: The maximum duration of the phase. `nil` selects the default for this phase. A joined link
    ///   has no such limit.
    mutating func enter(_ phase: Phase, at now: Duration, within limit: Duration? = nil) {
        self.phase = phase
        switch phase {
        case .joined: timer = .keepalive(Keepalive(at: now, asksFirst: isDialler))
        case .dialing, .lane: timer = limit.map { .limit(now + $0) } ?? .off
        case .greeting: timer = .limit(now + (limit ?? PeerTimes.greeting))
        case .lobby: timer = .limit(now + (limit ?? PeerTimes.lobby))
        case .joining: timer = .limit(now + (limit ?? PeerTimes.joining))
        case .leaving: timer = .limit(now + (limit ?? PeerTimes.leaving))
        }
    }

    var isLeaving: Bool { if case .leaving = phase { true } else { false } }

    /// Always `false`. When a link ends, ``PeerMesh`` removes the link, and this state machine with it.
    var hasEnded: Bool { false }

    var deadline: Duration? {
        switch timer {
        case .off: nil
        case .limit(let time): time
        case .keepalive(let keepalive): keepalive.deadline
        }
    }

    var lastHeard: Duration? { if case .keepalive(let keepalive) = timer { keepalive.lastHeard } else { nil } }

    /// Records that bytes have arrived from the peer.
    mutating func heard(at now: Duration) {
        guard case .keepalive(var keepalive) = timer else { return }
        keepalive.heard(at: now)
        timer = .keepalive(keepalive)
    }

    /// Tests a joined link now, because the network has changed.
    mutating func probe(at now: Duration) {
        guard case .keepalive(var keepalive) = timer else { return }
        keepalive.probe(at: now)
        timer = .keepalive(keepalive)
    }

    mutating func advance(to now: Duration) -> [Alarm] {
        switch timer {
        case .off: return []
        case .limit(let time):
            guard time <= now else { return [] }
            timer = .off
            return [.expired]
        case .keepalive(var keepalive):
            let alarms = keepalive.advance(to: now)
            timer = .keepalive(keepalive)
            return alarms.map { .keepalive($0) }
        }
    }

    /// Whether a link may begin with this frame type. This detects another protocol from its first byte, without waiting for a payload.
    func mayBegin(with type: UInt8?) -> Bool {
        guard let type, type & 0x80 == 0 else { return true }
        return [.hello, .lane, .bye].contains(PeerFrameType(rawValue: type))
    }

    /// Returns how to treat a received frame of this type in the link's current phase.
    func verdict(on type: PeerFrameType) -> Verdict {
        switch (phase, type) {
        case (.leaving, .acknowledgment), (.leaving, .bye): .handle
        case (.leaving, _), (.dialing, _): .ignore
        case (_, .bye): .handle
        case (.greeting, .hello), (.greeting, .lane): .handle
        case (.greeting, _), (_, .hello): .refuse(.protocolViolation)
        case (_, .ping), (_, .pong): .handle
        case (.lobby, .invite), (.lobby, .accept), (.lobby, .decline), (.lobby, .withdraw), (.lobby, .certificate):
            .handle
        case (.lobby, _): .refuse(.protocolViolation)
        case (.joining, .certificate), (.joining, .certified), (.joining, .withdraw): .handle
        case (.joining, .invite): .ignore
        case (.joining, _): .refuse(.protocolViolation)
        case (.joined, .certificate), (.joined, .certified), (.joined, .accept), (.joined, .withdraw),
            (.joined, .decline):
            .ignore
        case (.joined, _): .handle
        case (.lane, .part): .handle
        case (.lane, _): .refuse(.protocolViolation)
        }
    }
}
