/// A session and its members.
struct Session: Sendable {
    var handle: SessionHandle
    let options: SessionOptions
    var members: [PeerKey: Boxed<Member>] = [:]
    var roster: RosterMachine
    /// One-time tokens of connection data, by peer id.
    var tokens: [UInt64: [UInt8]] = [:]
    var isLeaving = false

    /// Whether another member fits.
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
        /// A member announced it, or the program passed its connection data.
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
        /// Whether it cannot be delivered, and waits for the answer of this side's program to the peer's invitation.
        var isParked: Bool
    }

    struct Expectation: Sendable {
        let deadline: Duration
        /// When to dial; `nil` if a dial is on its way or the peer dials.
        var dialTime: Duration?
        let token: [UInt8]?
    }

    var info: PeerInfo
    var phase: Phase
    /// The peer's session.
    var handle: SessionHandle?
    var endpoints: [PeerEndpoint] = []
    /// The control link. Before the member is joined, the link that the smaller peer chose.
    var link: LinkID?
    var traffic: MemberTraffic?
    var lanes = LaneSet()
    var datagrams = DatagramLane()
    var repair = LinkRepair()
    var verification: VerificationMachine?
    var consent = MemberConsent()
    /// The secret of the first link: binds lanes and codes.
    var exporter: [UInt8] = []

    init(_ info: PeerInfo, _ phase: Phase) { (self.info, self.phase) = (info, phase) }
}

/// The program's knowledge and judgement of a member before it is joined.
struct MemberConsent: Sendable {
    /// Whether the program knows that the member is connecting.
    var isAnnounced = false
    /// Whether the program was asked.
    var isJudging = false
    /// Its answer.
    var judgement: Bool?
}

/// The lanes of a member.
struct LaneSet: Sendable {
    var ready: Set<LinkID> = []
    var dialing: LinkID?
    var failures = 0
    /// Whether the peer was asked to dial a lane.
    var isRequested = false

    /// Whether bytes of resources travel on the control link because lanes are not possible.
    var isUnavailable: Bool { failures >= 3 }
}

/// How a broken link is replaced.
struct LinkRepair: Sendable {
    /// Whether this side dialled the first link, and so dials its replacements.
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
