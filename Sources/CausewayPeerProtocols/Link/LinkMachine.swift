/// A link's phases, their deadlines, and the frame types that each permits.
struct LinkMachine: Sendable {
    enum Phase: Equatable, Sendable {
        /// The driver is connecting.
        case dialing
        /// Before HELLO.
        case greeting
        /// Before the invitation is answered, or until a member introduces the peer.
        case lobby
        /// Certificates are exchanged.
        case joining
        case joined
        /// A further connection for resource bytes.
        case lane
        /// Output is flushed. Input is ignored, except acknowledgments and BYE.
        case leaving(PeerReason)
    }

    enum Verdict: Equatable, Sendable { case handle, ignore, refuse(PeerReason) }

    enum Alarm: Equatable, Sendable { case keepalive(Keepalive.Alarm), expired }

    private let isDialler: Bool
    private(set) var phase: Phase
    private var phaseDeadline: Duration?
    private var keepalive: Keepalive?

    init(_ phase: Phase, at now: Duration) {
        self.phase = phase
        isDialler = phase == .dialing
        enter(phase, at: now)
    }

    /// - Parameters:
    ///   - phase: The new phase.
    ///   - now: The time of the change.
    ///   - limit: How long the phase may take; `nil` for its usual time.
    mutating func enter(_ phase: Phase, at now: Duration, within limit: Duration? = nil) {
        self.phase = phase
        let usual: Duration? =
            switch phase {
            case .dialing: nil
            case .greeting: PeerTimes.greeting
            case .lobby: PeerTimes.lobby
            case .joining: PeerTimes.joining
            case .joined, .lane: nil
            case .leaving: PeerTimes.leaving
            }
        phaseDeadline = (limit ?? usual).map { now + $0 }
        keepalive = phase == .joined ? Keepalive(at: now, asksFirst: isDialler) : nil
    }

    var isLeaving: Bool { if case .leaving = phase { true } else { false } }

    var deadline: Duration? { [phaseDeadline, keepalive?.deadline].compactMap { $0 }.min() }

    var lastHeard: Duration? { keepalive?.lastHeard }

    mutating func heard(at now: Duration) { keepalive?.heard(at: now) }

    mutating func probe(at now: Duration) { keepalive?.probe(at: now) }

    mutating func advance(to now: Duration) -> Alarm? {
        if let phaseDeadline, now >= phaseDeadline {
            self.phaseDeadline = nil
            return .expired
        }
        return keepalive?.advance(to: now).map { .keepalive($0) }
    }

    /// Whether a link may begin with this frame type. Another protocol is thus detected from its first byte, without waiting for a payload.
    func mayBegin(with type: UInt8?) -> Bool {
        guard let type, type & 0x80 == 0 else { return true }
        return [.hello, .lane, .bye].contains(PeerFrameType(rawValue: type))
    }

    /// Decides how to treat a frame in the current phase.
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
