/// Detects a silent peer: PING after 2 s, suspect after 6 s, lost after 8 s.
struct Keepalive: Sendable {
    enum Alarm: Equatable, Sendable { case ping, suspect, lost }

    private(set) var lastHeard: Duration
    private var next: Alarm = .ping
    private var nextTime: Duration

    init(at now: Duration) {
        lastHeard = now
        nextTime = now + PeerTimes.pingAfter
    }

    var deadline: Duration { nextTime }

    mutating func heard(at now: Duration) { self = Keepalive(at: now) }

    /// A network change: asks for a sign of life now.
    mutating func probe(at now: Duration) { if next == .ping { nextTime = now } }

    mutating func advance(to now: Duration) -> Alarm? {
        guard now >= nextTime else { return nil }
        if now >= lastHeard + PeerTimes.lostAfter {
            (next, nextTime) = (.lost, .seconds(Int64.max >> 1))
            return .lost
        }
        switch next {
        case .ping:
            let again = now + PeerTimes.pingAfter
            let isLate = again >= lastHeard + PeerTimes.suspectAfter
            (next, nextTime) = isLate ? (.suspect, max(now, lastHeard + PeerTimes.suspectAfter)) : (.ping, again)
            return .ping
        case .suspect:
            (next, nextTime) = (.lost, lastHeard + PeerTimes.lostAfter)
            return .suspect
        case .lost: return nil
        }
    }
}
