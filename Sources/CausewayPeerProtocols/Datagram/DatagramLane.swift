/// The datagram lane of one member: its attempts, and the current lane.
struct DatagramLane: Sendable {
    enum Phase: Equatable, Sendable {
        /// There is none. The side that offers lanes makes another at ``DatagramLane/deadline``.
        case down
        /// The driver opens a port, or dials.
        case opening
        /// The peer knows the port and is to dial it.
        case offered
        /// - Parameter limit: The maximum size of a datagram in bytes.
        case ready(limit: Int)
    }

    /// Whether both sides speak of datagram lanes.
    var isSupported = false
    var phase = Phase.down
    var id: DatagramLaneID?
    /// The token of the current lane; empty without one.
    var token: [UInt8] = []
    /// When the attempt is given up, or the next one begins.
    var deadline: Duration?
    /// Lanes that failed since one was ready.
    var failureCount = 0
    /// The newest offer, while this side has dialled another a moment ago.
    var heldOffer: DatagramNotice.Offer?
    var lastDial: Duration?
    var watch: LaneWatch?
    /// Bytes that the driver has not yet given to the network.
    var pendingByteCount = 0
    var report = DatagramLaneReport()

    var nextTime: Duration? { [deadline, watch?.deadline].compactMap { $0 }.min() }

    /// Forgets the current lane, and plans the next one if this side offers lanes.
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

/// The first byte of a datagram on a lane. Datagrams with another first byte are ignored.
enum DatagramKind {
    /// A whole unreliable message follows.
    static let message: UInt8 = 0
    /// Asks for a sign of life.
    static let probe: UInt8 = 1
    static let answer: UInt8 = 2
}

/// The lanes of a mesh by number.
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
