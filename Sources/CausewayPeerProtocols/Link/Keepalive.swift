internal import CausewayTypes

/// Detects a silent peer: PING after 6 s, suspicion after 6.5 s, loss after 9.5 s.
///
/// This state machine ends when the peer is lost. The side that accepted the link sends its PING only after 6.5 s,
/// because the side that dialled sends a PING earlier.
///
/// Time in which this process did not run does not count as silence: bytes that arrived in that time are still unread.
/// For example, the host was busy or the process was suspended. At most 9.5 s are not counted, so that a lost peer is
/// reported on a busy host too.
struct Keepalive: ReturningMachine, Sendable {
    typealias Action = Alarm

    enum Alarm: Equatable, Sendable { case ping, suspect, lost }

    private enum Phase: Sendable {
        case waiting(next: Alarm, at: Duration)
        case ended
    }

    private let asksFirst: Bool
    private(set) var lastHeard: Duration
    private var phase: Phase
    /// The total time that was added to `lastHeard` so far. A late alarm shows that this process did not run. Its delay
    /// is added, because it does not count as the peer's silence.
    private var uncounted = Duration.zero

    init(at now: Duration, asksFirst: Bool) {
        self.asksFirst = asksFirst
        lastHeard = now
        phase = .waiting(next: .ping, at: now + (asksFirst ? PeerTimes.pingAfter : PeerTimes.suspectAfter))
    }

    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    var deadline: Duration? { if case .waiting(_, let time) = phase { time } else { nil } }

    /// Records that bytes arrived, and restarts the keepalive timer.
    mutating func heard(at now: Duration) {
        guard !hasEnded else { return }
        self = Keepalive(at: now, asksFirst: asksFirst)
    }

    /// Makes the next PING due now, because the network changed.
    mutating func probe(at now: Duration) {
        if case .waiting(.ping, _) = phase { phase = .waiting(next: .ping, at: now) }
    }

    mutating func advance(to now: Duration) -> [Alarm] {
        var alarms: [Alarm] = []
        // On the side that accepted the link, the alarms `ping` and `suspect` are due at the same time. The loop makes
        // one call return both.
        while case .waiting(let next, let time) = phase, time <= now {
            allow(lateness: now - time, at: now)
            alarms.append(passed(next, at: now))
        }
        return alarms
    }

    private mutating func passed(_ alarm: Alarm, at now: Duration) -> Alarm {
        let end = lastHeard + PeerTimes.lostAfter
        guard now < end else {
            phase = .ended
            return .lost
        }
        switch alarm {
        case .ping: phase = .waiting(next: .suspect, at: max(now, lastHeard + PeerTimes.suspectAfter))
        case .suspect: phase = .waiting(next: .lost, at: end)
        case .lost:
            // This alarm came late. The delay is not the peer's silence, so do not treat the peer as lost yet. Send
            // another PING.
            phase = .waiting(next: .lost, at: end)
            return .ping
        }
        return alarm
    }

    /// Handles a late alarm. The delay does not count as the peer's silence, and the peer gets at least one more
    /// second. In total, at most 9.5 s are not counted.
    private mutating func allow(lateness: Duration, at now: Duration) {
        guard lateness >= PeerTimes.lateAlarm else { return }
        let earliest = max(lastHeard + lateness, now - PeerTimes.lostAfter + .seconds(1))
        let added = min(max(earliest - lastHeard, .zero), PeerTimes.lostAfter - uncounted)
        uncounted += added
        lastHeard += added
    }
}
