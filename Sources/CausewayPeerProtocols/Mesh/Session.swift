/// A session and its members.
struct Session: Sendable {
    var handle: SessionHandle
    let options: SessionOptions
    var members: [PeerKey: Boxed<Member>] = [:]
    var roster: RosterMachine
    var tokens = ConnectionTokens()
    var isLeaving = false

    /// Whether the session has space for the peer. If the peer has an entry already, that entry is not counted.
    func hasRoom(for peer: PeerKey) -> Bool {
        let others = members.values.count { $0.info.key != peer && $0.phase.countsAsMember }
        return others + 1 < options.limit
    }
}

/// A peer that is a member, or is about to become one.
struct Member: Sendable {
    enum Phase: Sendable {
        /// This side invited the peer.
        case inviting(Invitation)
        /// A member announced the peer, or the program passed the peer's connection data.
        case expected(Expectation)
        case joining
        case joined
        case suspended(until: Duration)

        var countsAsMember: Bool {
            switch self {
            case .joining, .joined, .suspended: true
            case .inviting, .expected: false
            }
        }

        var isInviting: Bool { if case .inviting = self { true } else { false } }
        var isParked: Bool { if case .inviting(let invitation) = self { invitation.isParked } else { false } }
        var isExpected: Bool { if case .expected = self { true } else { false } }
        var isJoined: Bool { if case .joined = self { true } else { false } }
        var isSuspended: Bool { if case .suspended = self { true } else { false } }
        var isConnected: Bool { isJoined || isSuspended }
    }

    struct Invitation: Sendable {
        let context: [UInt8]?
        let service: String
        let deadline: Duration
        /// Whether the invitation could not be delivered, and waits until this side's program answers the peer's own invitation.
        var isParked: Bool
    }

    struct Expectation: Sendable {
        let deadline: Duration
        /// When to dial; `nil` during a dial, or if the peer dials.
        var dialTime: Duration?
        let token: [UInt8]?
    }

    var info: PeerInfo
    var phase: Phase
    /// The peer's session handle.
    var handle: SessionHandle?
    var endpoints: [PeerEndpoint] = []
    /// The control link. Before the member joins, only the side with the smaller key sets this: to the link that it
    /// chose among the links to the member.
    var link: LinkID?
    var traffic: MemberTraffic?
    var lanes = LaneSet()
    var datagrams = DatagramLane()
    var repair = LinkRepair()
    var verification: VerificationMachine?
    var consent = MemberConsent()
    /// The first control link's TLS exporter value. Keys of DTLS connections, tokens of connections for resource bytes,
    /// and comparison codes are derived from it, so only the two ends of that link can compute them.
    var exporter: [UInt8] = []

    init(_ info: PeerInfo, _ phase: Phase) { (self.info, self.phase) = (info, phase) }
}

/// Questions to the program before the member joins, and the program's answers.
struct MemberConsent: Sendable {
    /// Whether ``MemberState/connecting`` was reported.
    var isAnnounced = false
    /// Whether the program was asked (``PeerAction/judge(_:_:)``).
    var isJudging = false
    /// The program's answer.
    var judgement: Bool?
}

/// A member's resource lanes: links that carry only resource bytes.
struct LaneSet: Sendable {
    var ready: Set<LinkID> = []
    var dialing: LinkID?
    var failures = 0
    /// Whether the peer was asked to dial a resource lane (a connection for resource bytes).
    var isRequested = false

    /// Whether three dials failed, so that resource bytes use the control link.
    var isUnavailable: Bool { failures >= 3 }
}

/// State for replacing a broken control link.
struct LinkRepair: Sendable {
    /// Whether this side dialled the member's first control link. This side then dials all replacements.
    var isDialler = false
    var dial: LinkID?
    var attempts = 0
    var nextDial: Duration?

    mutating func schedule(at now: Duration) {
        dial = nil
        nextDial = now + PeerTimes.redials[min(attempts, PeerTimes.redials.count - 1)]
        attempts += 1
    }

    mutating func reset() {
        (dial, nextDial, attempts) = (nil, nil, 0)
    }
}
