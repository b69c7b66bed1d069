internal import CausewayTypes

/// Monitors the DTLS connection for unreliable messages. Detects that the connection is lost, and keeps NAT mappings
/// alive.
///
/// Both sides run this state machine until the connection is lost. If nothing arrives after a sent datagram, the sender
/// sends a probe every 0.5 s. If nothing arrives for 5 s, the connection is lost.
struct LaneWatch: ReturningMachine, Sendable {
    typealias Action = Alarm

    enum Alarm: Equatable, Sendable { case probe, lost }

    private enum Phase: Sendable {
        /// This side has sent nothing since it received the latest datagram. `probeAt` is the time of the next probe;
        /// `nil` if no probe is due.
        case quiet(probeAt: Duration?)
        /// This side has sent datagrams, and the peer has not answered yet.
        ///
        /// - Parameter since: The time when this side sent the oldest unanswered datagram.
        case unanswered(since: Duration, next: Duration)
        case ended
    }

    private var phase: Phase
    private let probesWhenIdle: Bool

    /// - Parameter probesWhenIdle: Whether this side sends a probe after 60 s of silence. The side that opened the
    ///   connection passes `true`, because it may be behind a NAT. A NAT keeps a UDP mapping for at least 2 minutes
    ///   (RFC 4787 §4.3).
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

    /// Records that a message or a probe was sent. If no datagram arrives afterwards, another probe is sent.
    mutating func sent(at now: Duration) {
        if case .quiet = phase { phase = .unanswered(since: now, next: now + PeerTimes.laneProbe) }
    }

    /// Makes a probe due immediately, because the network has changed.
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
