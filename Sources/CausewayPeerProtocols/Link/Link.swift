internal import DequeModule

/// A connection and what is known of its peer.
struct Link: Sendable {
    let isDialler: Bool
    /// Why it was dialled; `nil` for accepted links.
    let purpose: PeerDial.Purpose?
    var machine: LinkMachine
    var facts: LinkFacts?
    /// The member that the link belongs to, as soon as that is known.
    var member: MemberID?
    var hello: Hello?
    var reader = PeerFrameReader()
    var output = LinkOutput()
    var consent = LinkConsent()
    /// Whether this side has told the peer, on a replacement, how many frames arrived. The peer sends further ones again there.
    var isSuperseded = false

    init(dial purpose: PeerDial.Purpose, member: MemberID, at now: Duration) {
        (isDialler, self.purpose, self.member) = (true, purpose, member)
        machine = LinkMachine(.dialing, at: now)
        // Invitations and introductions have deadlines of their own. A hanging dial must not keep a member suspended.
        switch purpose {
        case .invitation, .introduction: break
        case .resumption: machine.enter(.dialing, at: now, within: .seconds(3))
        case .lane: machine.enter(.dialing, at: now, within: .seconds(10))
        }
    }

    init(accepted facts: LinkFacts, at now: Duration) {
        (isDialler, purpose, self.facts) = (false, nil, facts)
        machine = LinkMachine(.greeting, at: now)
    }

    var phase: LinkMachine.Phase { machine.phase }

    /// Whether the link counts against the limits for peers that are not members.
    var isStranger: Bool {
        switch phase {
        case .greeting, .lobby, .joining, .leaving: !isDialler
        case .dialing, .joined, .lane: false
        }
    }

    /// The verified peer, or the one that was dialled.
    var peerKey: PeerKey? { hello?.peer.key ?? member?.peer }
}

/// Frames that do not wait for channels, and what is sent before a goodbye.
struct LinkOutput: Sendable {
    private(set) var urgent: Deque<PeerFrame> = []
    /// Whether the driver knows that there is output.
    var isAnnounced = false
    /// The rest of a member's messages, while the link is leaving.
    var farewell: MemberTraffic?
    /// The last frame of the link.
    private var last: PeerFrame?

    var isEmpty: Bool { urgent.isEmpty && last == nil && farewell == nil }

    mutating func append(_ frame: PeerFrame) {
        // One answer is enough for any number of pings.
        if frame.type == .pong, urgent.contains(where: { $0.type == .pong }) { return }
        urgent.append(frame)
    }

    mutating func end(with frame: PeerFrame) { last = frame }

    mutating func nextUrgent() -> PeerFrame? { urgent.popFirst() }

    mutating func nextLast() -> PeerFrame? { last.take() }
}

/// The exchange of certificates before a link is joined.
struct LinkConsent: Sendable {
    var claim: CertificateClaim?
    /// Whether this side's certificate was sent.
    var hasShown = false
    /// Whether this side sent `CERTIFIED`.
    var hasApproved = false
    /// Whether `CERTIFIED` arrived.
    var isApproved = false
    /// Whether the peer proved the secret of a pairing in its HELLO.
    var isPaired = false
}
