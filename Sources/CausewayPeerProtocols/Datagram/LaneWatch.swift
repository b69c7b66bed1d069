internal import CausewayTypes

/// Detects a lost datagram lane, a DTLS connection for unreliable messages, and keeps NAT mappings alive. This state
/// machine ends when the connection is lost.
///
/// Both sides run this state machine. If nothing arrives after a sent datagram, probes follow every 0.5 s. If nothing
/// arrives for 5 s, the connection is lost.
struct LaneWatch: ReturningMachine, Sendable {
    typealias Action = Alarm

    enum Alarm: Equatable, Sendable { case probe, lost }

    private enum Phase: Sendable {
        /// Nothing was sent since the latest datagram arrived. A probe is due at `probeAt`, if that is set.
        case quiet(probeAt: Duration?)
        /// - Parameter since: When this side sent the oldest datagram to which nothing has arrived.
        case unanswered(since: Duration, next: Duration)
        case ended
    }

    private var phase: Phase
    private let probesWhenIdle: Bool

    /// - Parameter probesWhenIdle: Whether this side sends a probe after 60 s of silence. `true` on the side that
    ///   dialled, because it may be behind a NAT. UDP mappings live for at least 2 minutes (RFC 4787 §4.3).
    init(probesWhenIdle: Bool, at now: Duration) {
        self.probesWhenIdle = probesWhenIdle
        phase = .quiet(probeAt: probesWhenIdle ? now + PeerTimes.laneIdle : nil)
    }

    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    var deadline: Duration? {
        switch phase {
        case .quiet(let time): time
        case .unanswered(_, let next): next
        case .ended: nil
        }
    }

    /// A datagram arrived.
    mutating func heard(at now: Duration) {
        guard !hasEnded else { return }
        phase = .quiet(probeAt: probesWhenIdle ? now + PeerTimes.laneIdle : nil)
    }

    /// A message or a probe was sent. If no datagram arrives afterwards, a probe follows.
    mutating func sent(at now: Duration) {
        if case .quiet = phase { phase = .unanswered(since: now, next: now + PeerTimes.laneProbe) }
    }

    /// The network changed: makes a probe due now.
    mutating func probe(at now: Duration) { if case .quiet = phase { phase = .quiet(probeAt: now) } }

    mutating func advance(to now: Duration) -> [Alarm] {
        let start: Duration
        switch phase {
        case .quiet(let time?) where time <= now: start = now
        case .unanswered(let since, let next) where next <= now: start = since
        case .quiet, .unanswered, .ended: return []
        }
        let end = start + PeerTimes.laneLost
        guard now < end else {
            phase = .ended
            return [.lost]
        }
        phase = .unanswered(since: start, next: min(now + PeerTimes.laneProbe, end))
        return [.probe]
    }
}
