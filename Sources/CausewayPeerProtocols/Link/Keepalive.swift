/// Detects a silent peer: PING after 6 s, suspect after 6.5 s, lost after 9.5 s.
///
/// The accepter sends PING only when the dialler, from which it expects a PING, is suspect.
///
/// Time in which this process did not run, because the machine is busy or the process was suspended, does not count:
/// the peer's bytes from that time are still unread. At most 9.5 s are added, so that a lost peer is reported on a busy
/// machine too.
struct Keepalive: Sendable {
    enum Alarm: Equatable, Sendable { case ping, suspect, lost }

    private let asksFirst: Bool
    private(set) var lastHeard: Duration
    private var next: Alarm = .ping
    private var nextTime: Duration
    /// Uncounted time since the peer was last heard.
    private var uncounted = Duration.zero

    init(at now: Duration, asksFirst: Bool) {
        self.asksFirst = asksFirst
        lastHeard = now
        nextTime = now + (asksFirst ? PeerTimes.pingAfter : PeerTimes.suspectAfter)
    }

    var deadline: Duration { nextTime }

    mutating func heard(at now: Duration) { self = Keepalive(at: now, asksFirst: asksFirst) }

    /// Makes PING due now, because the network changed.
    mutating func probe(at now: Duration) { if next == .ping { nextTime = now } }

    mutating func advance(to now: Duration) -> Alarm? {
        guard now >= nextTime else { return nil }
        allow(lateness: now - nextTime, at: now)
        if now >= lastHeard + PeerTimes.lostAfter {
            (next, nextTime) = (.lost, .seconds(Int64.max >> 1))
            return .lost
        }
        switch next {
        case .ping:
            (next, nextTime) = (.suspect, max(now, lastHeard + PeerTimes.suspectAfter))
            return .ping
        case .suspect:
            (next, nextTime) = (.lost, lastHeard + PeerTimes.lostAfter)
            return .suspect
        case .lost:
            // ``allow(lateness:at:)`` has extended the time: ask again.
            nextTime = lastHeard + PeerTimes.lostAfter
            return .ping
        }
    }

    /// After a late alarm, does not count the lateness, and leaves the peer at least one second.
    private mutating func allow(lateness: Duration, at now: Duration) {
        guard lateness >= PeerTimes.lateAlarm else { return }
        let earliest = max(lastHeard + lateness, now - PeerTimes.lostAfter + .seconds(1))
        let added = min(max(earliest - lastHeard, .zero), PeerTimes.lostAfter - uncounted)
        uncounted += added
        lastHeard += added
    }
}
