/// One member's datagram lane, which carries unreliable messages over UDP and DTLS.
///
/// A lane can use several DTLS connections, one after the other. This value tracks the attempts to open a connection,
/// and the current connection.
struct DatagramLane: Sendable {
    enum Phase: Equatable, Sendable {
        /// There is no DTLS connection. The side that offers connections opens the next one at
        /// ``DatagramLane/deadline``.
        case down
        /// This side is opening a UDP port for the peer, or is connecting to the peer's port.
        case opening
        /// The port was offered to the peer. This side waits for the peer to dial it.
        case offered
        /// - Parameter limit: The maximum datagram size in bytes.
        case ready(limit: Int)
    }

    /// Whether both sides support DTLS connections for unreliable messages.
    var isSupported = false
    var phase = Phase.down
    var id: DatagramLaneID?
    /// The token of the current DTLS connection or attempt; empty if there is none.
    var token: [UInt8] = []
    /// When the current attempt times out, or the next attempt begins.
    var deadline: Duration?
    /// The number of failures since a DTLS connection became ready or the control link was replaced. Only the side that
    /// offers connections counts.
    var failureCount = 0
    /// The peer's newest offer of a DTLS connection. It waits here until ``PeerTimes/laneDialPause`` has passed since
    /// the latest dial.
    var heldOffer: DatagramNotice.Offer?
    var lastDial: Duration?
    var watch: LaneWatch?
    /// Bytes of datagrams that the network has neither accepted nor dropped yet.
    var pendingByteCount = 0
    var report = DatagramLaneReport()

    var nextTime: Duration? { [deadline, watch?.deadline].compactMap { $0 }.min() }

    /// Removes the current DTLS connection. Schedules the next one if it is this side that offers connections.
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

/// The kind of a datagram on a DTLS connection for unreliable messages: the datagram's first byte. Datagrams of other
/// kinds are ignored.
enum DatagramKind {
    /// A whole unreliable message follows.
    static let message: UInt8 = 0
    /// Asks for an ``answer``.
    static let probe: UInt8 = 1
    static let answer: UInt8 = 2
}

/// The DTLS connections of all members for unreliable messages, by number.
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
