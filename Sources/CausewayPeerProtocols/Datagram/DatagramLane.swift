/// One member's datagram lane, which carries unreliable messages over UDP and DTLS.
///
/// The value outlasts single connections: it tracks the attempts to open a lane and the current lane.
struct DatagramLane: Sendable {
    enum Phase: Equatable, Sendable {
        /// No datagram lane exists. The offering side opens the next lane at ``DatagramLane/deadline``.
        case down
        /// The driver opens a port, or dials.
        case opening
        /// The port was offered to the peer, which dials it.
        case offered
        /// - Parameter limit: The maximum datagram size in bytes.
        case ready(limit: Int)
    }

    /// Whether both sides support datagram lanes.
    var isSupported = false
    var phase = Phase.down
    var id: DatagramLaneID?
    /// The current datagram lane's token; empty without a lane.
    var token: [UInt8] = []
    /// When the current attempt times out, or the next attempt begins.
    var deadline: Duration?
    /// On the offering side, the number of failures since a datagram lane became ready or the control link was
    /// replaced.
    var failureCount = 0
    /// The newest offer, held for ``PeerTimes/laneDialPause`` after the latest dial.
    var heldOffer: DatagramNotice.Offer?
    var lastDial: Duration?
    var watch: LaneWatch?
    /// Bytes that the driver has not yet passed to the network.
    var pendingByteCount = 0
    var report = DatagramLaneReport()

    var nextTime: Duration? { [deadline, watch?.deadline].compactMap { $0 }.min() }

    /// Removes the current datagram lane, and schedules the next lane if this side offers lanes.
    mutating func fell(offers: Bool, at now: Duration) {
        (phase, id, token, watch, pendingByteCount) = (.down, nil, [], nil, 0)
        (report.isReady, report.messageLimit) = (false, 0)
        deadline = nil
        guard offers else { return }
        deadline = now + PeerTimes.laneRetries[min(failureCount, PeerTimes.laneRetries.count - 1)]
        failureCount += 1
    }

    mutating func became(ready limit: Int, dialled: Bool, at now: Duration) {
        (phase, deadline, failureCount) = (.ready(limit: limit), nil, 0)
        watch = LaneWatch(probesWhenIdle: dialled, at: now)
        (report.isReady, report.messageLimit) = (true, max(0, limit - 1))
    }
}

/// A datagram's first byte on a datagram lane. Datagrams with other values are ignored.
enum DatagramKind {
    /// A whole unreliable message follows.
    static let message: UInt8 = 0
    /// Asks for an ``answer``.
    static let probe: UInt8 = 1
    static let answer: UInt8 = 2
}

/// A mesh's datagram lanes by number.
struct DatagramLaneTable: Sendable {
    private var members: [DatagramLaneID: MemberID] = [:]
    private var last = 0

    var count: Int { members.count }
    subscript(id: DatagramLaneID) -> MemberID? { members[id] }

    mutating func add(_ member: MemberID) -> DatagramLaneID {
        last += 1
        members[DatagramLaneID(last)] = member
        return DatagramLaneID(last)
    }

    mutating func remove(_ id: DatagramLaneID) { members[id] = nil }
}
