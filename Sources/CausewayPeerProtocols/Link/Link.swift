internal import DequeModule

/// A TLS connection and its peer's properties.
struct Link: Sendable {
    let isDialler: Bool
    /// Why the link was dialled; `nil` for accepted links.
    let purpose: PeerDial.Purpose?
    var machine: LinkMachine
    var facts: LinkFacts?
    /// The link's member, once it is known.
    var member: MemberID?
    var hello: Hello?
    var reader = PeerFrameReader()
    var output = LinkOutput()
    var consent = LinkConsent()
    /// Whether this side has reported the number of received frames in the HELLO of a replacement link. The peer sends
    /// all later frames again on the replacement link, so frames that still arrive on this old link are ignored.
    var isSuperseded = false

    init(dial purpose: PeerDial.Purpose, member: MemberID, at now: Duration) {
        (isDialler, self.purpose, self.member) = (true, purpose, member)
        machine = LinkMachine(.dialing, at: now)
        // An invitation or an introduction has its own deadline, which also limits its dial. Other dials need a limit,
        // because a dial that hangs must not keep a member suspended.
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

    /// Whether the link counts against ``PeerConfiguration/lobbyLimit``.
    var isStranger: Bool {
        switch phase {
        case .greeting, .lobby, .joining, .leaving: !isDialler
        case .dialing, .joined, .lane: false
        }
    }

    /// The verified peer or, before HELLO, the dialled peer.
    var peerKey: PeerKey? { hello?.peer.key ?? member?.peer }
}

/// A link's output apart from its member's messages, streams and resources: urgent frames, and the remaining output of
/// a link that is being closed.
struct LinkOutput: Sendable {
    private(set) var urgent: Deque<PeerFrame> = []
    /// Whether the network code was notified of output and has not taken all of it yet.
    var isAnnounced = false
    /// The member's remaining output. It is sent while the link is being closed.
    var farewell: MemberTraffic?
    /// The link's final frame, BYE.
    private var last: PeerFrame?

    var isEmpty: Bool { urgent.isEmpty && last == nil && farewell == nil }

    mutating func append(_ frame: PeerFrame) {
        // One queued PONG answers any number of PINGs, one ACCEPT any number of INVITEs, and the newest acknowledgment
        // replaces earlier acknowledgments.
        let isAnswer = frame.type == .pong || frame.type == .accept || frame.type == .acknowledgment
        guard isAnswer, let index = urgent.firstIndex(where: { $0.type == frame.type }) else {
            return urgent.append(frame)
        }
        urgent[index] = frame
    }

    mutating func end(with frame: PeerFrame) { last = frame }

    mutating func nextUrgent() -> PeerFrame? { urgent.popFirst() }

    mutating func nextLast() -> PeerFrame? { last.take() }
}

/// The certificate exchange before a link is joined.
struct LinkConsent: Sendable {
    /// The peer's certificates, once they arrived.
    var claim: CertificateClaim?
    /// Whether this side's certificate was sent.
    var hasShown = false
    /// Whether this side sent `CERTIFIED`.
    var hasApproved = false
    /// Whether `CERTIFIED` arrived.
    var isApproved = false
    /// Whether the peer's HELLO proved a pairing secret.
    var isPaired = false
}
