/// Detects a datagram lane on which nothing arrives any more, and keeps the mappings of NATs alive.
///
/// Both sides watch: a datagram that gets no sign of life is followed by probes, and after 5 s without any the lane is lost.
struct LaneWatch: Sendable {
    enum Alarm: Equatable, Sendable { case probe, lost }

    /// When the first datagram after the last sign of life was sent.
    private var unansweredSince: Duration?
    private(set) var deadline: Duration?
    private let probesWhenIdle: Bool

    /// - Parameter probesWhenIdle: Whether this side sends a probe after 60 s of silence: the side that dialled, which may be behind a NAT. Mappings
    ///   of UDP live for at least 2 minutes (RFC 4787 §4.3).
    init(probesWhenIdle: Bool, at now: Duration) {
        self.probesWhenIdle = probesWhenIdle
        heard(at: now)
    }

    mutating func heard(at now: Duration) {
        unansweredSince = nil
        deadline = probesWhenIdle ? now + PeerTimes.laneIdle : nil
    }

    mutating func sent(at now: Duration) {
        guard unansweredSince == nil else { return }
        unansweredSince = now
        deadline = now + PeerTimes.laneProbe
    }

    /// The network changed: asks for a sign of life now.
    mutating func probe(at now: Duration) { if unansweredSince == nil { deadline = now } }

    mutating func advance(to now: Duration) -> Alarm? {
        guard let due = deadline, due <= now else { return nil }
        let start = unansweredSince ?? now
        guard now < start + PeerTimes.laneLost else {
            deadline = nil
            return .lost
        }
        unansweredSince = start
        deadline = min(now + PeerTimes.laneProbe, start + PeerTimes.laneLost)
        return .probe
    }
}
