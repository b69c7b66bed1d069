/// The state of one member's datagram lane: the DTLS connections over UDP that carry unreliable messages.
///
/// A lane can use several DTLS connections, one after the other. This value tracks the attempts to open a connection,
/// and the current connection.
struct DatagramLane: Sendable {
    enum Phase: Equatable, Sendable {
        /// There is no DTLS connection now. At ``DatagramLane/deadline``, one side offers the next connection. It is
        /// always the same side that offers.
        case down
        /// This side is opening a UDP port for the peer, or is connecting to the port that the peer has opened.
        case opening
        /// The port was offered to the peer. This side waits for the peer to connect to it.
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
    /// How many times in a row a DTLS connection has failed. The count starts again when a connection becomes ready or
    /// the control link is replaced. Only the side that offers connections counts.
    var failureCount = 0
    /// The latest offer of a DTLS connection from the peer. After a dial, the offer must wait here until
    /// ``PeerTimes/laneDialPause`` has passed.
    var heldOffer: DatagramNotice.Offer?
    var lastDial: Duration?
    var watch: LaneWatch?
    /// The number of bytes in datagrams that the network has neither accepted nor dropped yet.
    var pendingByteCount = 0
    var report = DatagramLaneReport()

    var nextTime: Duration? { [deadline, watch?.deadline].compactMap { $0 }.min() }

    /// Records that the current DTLS connection is gone. If this side is the one that offers connections, schedules the
    /// next offer.
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
    /// The peer must reply to this datagram with an ``answer``.
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
