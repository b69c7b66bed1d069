internal import DequeModule

/// A link: a TLS connection, with the properties of its peer.
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
    /// Whether another link has replaced this link.
    ///
    /// The HELLO on the replacement link contains the number of frames that this side had received. The peer sends all
    /// later frames again on the replacement link. So this link drops every frame that still arrives.
    var isSuperseded = false

    init(dial purpose: PeerDial.Purpose, member: MemberID, at now: Duration) {
        (isDialler, self.purpose, self.member) = (true, purpose, member)
        machine = LinkMachine(.dialing, at: now)
        // An invitation or an introduction has a deadline that also limits its connection attempt. Any other attempt
        // needs its own limit. Without it, an attempt that hangs could keep a member suspended.
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

    /// Whether the link counts toward ``PeerConfiguration/lobbyLimit``. A link counts only if the other peer opened it
    /// and it has not joined the session.
    var isStranger: Bool {
        switch phase {
        case .greeting, .lobby, .joining, .leaving: !isDialler
        case .dialing, .joined, .lane: false
        }
    }

    /// The key of the verified peer. Before HELLO arrives, it is the key of the peer to which this side connects.
    var peerKey: PeerKey? { hello?.peer.key ?? member?.peer }
}

/// The output of a link. It consists of urgent frames, and of the output that remains while the link is being closed.
/// All other output belongs to the link's member.
struct LinkOutput: Sendable {
    private(set) var urgent: Deque<PeerFrame> = []
    /// Whether the network code was notified of output but has not taken all of it yet.
    var isAnnounced = false
    /// The output that remains for the member. It is sent while the link is being closed.
    var farewell: MemberTraffic?
    /// The link's final frame, BYE.
    private var last: PeerFrame?

    var isEmpty: Bool { urgent.isEmpty && last == nil && farewell == nil }

    mutating func append(_ frame: PeerFrame) {
        // One queued frame of each of these types is enough. One PONG answers all PINGs, one ACCEPT answers all
        // INVITEs, and the newest acknowledgment replaces earlier ones.
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

/// The state of the certificate exchange, which takes place before a link is joined.
struct LinkConsent: Sendable {
    /// The peer's certificates; `nil` before they arrive.
    var claim: CertificateClaim?
    /// Whether this side has sent its certificate.
    var hasShown = false
    /// Whether this side has sent the frame `CERTIFIED`.
    var hasApproved = false
    /// Whether the peer has sent the frame `CERTIFIED`.
    var isApproved = false
    /// Whether the peer's HELLO proved a pairing secret.
    var isPaired = false
}
