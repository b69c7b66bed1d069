/// Detects a datagram lane on which nothing arrives any more, and keeps NAT mappings alive.
///
/// Both sides watch. If nothing arrives within 0.5 s after a datagram was sent, probes follow every 0.5 s. After 5 s
/// without any datagram from the peer, the lane is lost.
struct LaneWatch: Sendable {
    enum Alarm: Equatable, Sendable { case probe, lost }

    /// When the first datagram was sent after the last one that arrived.
    private var unansweredSince: Duration?
    private(set) var deadline: Duration?
    private let probesWhenIdle: Bool

    /// - Parameter probesWhenIdle: Whether this side sends a probe after 60 s of silence. The dialler does, because it
    ///   may be behind a NAT. UDP mappings live for at least 2 minutes (RFC 4787 §4.3).
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

    /// Sends a probe at the next ``advance(to:)``, because the network changed.
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
