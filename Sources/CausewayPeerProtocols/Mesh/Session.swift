/// A session and its members.
struct Session: Sendable {
    var handle: SessionHandle
    let options: SessionOptions
    var members: [PeerKey: Boxed<Member>] = [:]
    var roster: RosterMachine
    var tokens = ConnectionTokens()
    var isLeaving = false

    /// Whether the session has space for this peer. An existing entry of this peer does not count.
    func hasRoom(for peer: PeerKey) -> Bool {
        let others = members.values.count { $0.info.key != peer && $0.phase.countsAsMember }
        return others + 1 < options.limit
    }
}

/// A peer in the session, or a peer that may soon join it.
struct Member: Sendable {
    enum Phase: Sendable {
        /// This side has sent the peer an invitation.
        case inviting(Invitation)
        /// The peer is expected to join. Another member has announced it, or the program has passed the peer's
        /// connection data.
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
        /// Whether the invitation could not be delivered and is waiting. The peer has also sent an invitation. The wait
        /// ends when the local program answers that invitation.
        var isParked: Bool
    }

    struct Expectation: Sendable {
        let deadline: Duration
        /// The time when this side must dial the member. `nil` while a dial is in progress, or if the peer dials
        /// instead.
        var dialTime: Duration?
        let token: [UInt8]?
    }

    var info: PeerInfo
    var phase: Phase
    /// The peer's session handle.
    var handle: SessionHandle?
    var endpoints: [PeerEndpoint] = []
    /// The control link to the member. Before the member joins, only the side with the smaller key sets this property,
    /// because that side chooses among the links.
    var link: LinkID?
    var traffic: MemberTraffic?
    var lanes = LaneSet()
    var datagrams = DatagramLane()
    var repair = LinkRepair()
    var verification: VerificationMachine?
    var consent = MemberConsent()
    /// The TLS exporter value of the first control link to the member.
    ///
    /// Only the two ends of that link can compute it. Several values are derived from it: the DTLS connections' keys,
    /// the tokens for connections that carry resource bytes, and the comparison codes.
    var exporter: [UInt8] = []

    init(_ info: PeerInfo, _ phase: Phase) { (self.info, self.phase) = (info, phase) }
}

/// The decision about a peer that is not a member yet: which questions the program was asked, and what it answered.
struct MemberConsent: Sendable {
    /// Whether the state ``MemberState/connecting`` was reported to the program.
    var isAnnounced = false
    /// Whether the program was asked (``PeerAction/judge(_:_:)``).
    var isJudging = false
    /// Whether the program accepts the peer; `nil` until the program has answered.
    var judgement: Bool?
}

/// The links to one member that carry only resource bytes.
struct LaneSet: Sendable {
    var ready: Set<LinkID> = []
    var dialing: LinkID?
    var failures = 0
    /// Whether the peer was asked to dial a resource lane (a connection for resource bytes).
    var isRequested = false

    /// Whether resource bytes use the control link. This is the case after three failed dials. A dial is an attempt to
    /// connect.
    var isUnavailable: Bool { failures >= 3 }
}

/// The state of the attempts to replace a broken control link to a member.
struct LinkRepair: Sendable {
    /// Whether this side dialled the first control link to the member. If so, this side also dials all replacements.
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
