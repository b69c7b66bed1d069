internal import CausewayWire
internal import DequeModule

/// The state announced by the peer.
struct HTTP2PeerState: Sendable {
    /// The maximum number of stored priorities for streams that are not yet open. It exceeds the default limit of concurrent streams.
    private static let maximumEarlyPriorities = 128

    var settings = HTTP2Settings()
    /// The highest stream identifier opened by the peer.
    var lastStreamID: HTTP2StreamID = 0
    /// The peer's last GOAWAY frame.
    var goAway: (lastStreamID: HTTP2StreamID, code: HTTP2ErrorCode, debugData: [UInt8])?
    /// Priorities for streams that are not open yet (RFC 9218 §7.1).
    private var earlyPriorities: [(id: HTTP2StreamID, priority: HTTPPriority)] = []

    var isGoingAway: Bool { goAway != nil }
    /// The number of streams that have a priority but are not open yet.
    var earlyPriorityCount: Int { earlyPriorities.count }

    mutating func setEarlyPriority(_ priority: HTTPPriority, of id: HTTP2StreamID) {
        earlyPriorities.removeAll { $0.id == id }
        if earlyPriorities.count == Self.maximumEarlyPriorities { earlyPriorities.removeFirst() }
        earlyPriorities.append((id, priority))
    }

    /// Removes and returns the priority for a new stream. Discards priorities for streams that can no longer be opened.
    mutating func takeEarlyPriority(of id: HTTP2StreamID) -> HTTPPriority? {
        guard !earlyPriorities.isEmpty else { return nil }
        let found = earlyPriorities.last { $0.id == id }?.priority
        earlyPriorities.removeAll { $0.id <= id }
        return found
    }
}

/// This side's connection state, apart from its streams.
struct HTTP2OwnState: Sendable {
    /// The PING payload whose acknowledgment shows that all requests in flight have arrived (RFC 9113 §6.8).
    static let shutdownPing: UInt64 = 0x4341_5553_4557_4159
    /// The PING payload sent after a discarded request has ended.
    static let drainPing: UInt64 = 0x4452_4149_4E45_4421
    /// The maximum number of unacknowledged pings.
    static let maximumPingCount = 64

    /// A client's next stream identifier.
    var nextStreamID: HTTP2StreamID = 1
    /// The initial receive window in effect. Until the peer acknowledges the setting, it is the larger of the default and the setting.
    var initialWindowSize: Int
    /// The time by which the peer must acknowledge the settings; `nil` after the acknowledgment.
    var settingsDeadline: Duration?
    /// The round-trip time; `nil` until the peer acknowledges the settings.
    var roundTrip: Duration?
    /// The last stream identifier in the last GOAWAY frame sent.
    var goAway: HTTP2StreamID?
    /// The time at which a graceful shutdown stops waiting for requests in flight.
    var shutdownDeadline: Duration?
    /// Requests that wait because of the concurrent stream limit, in identifier order.
    var waiting: Deque<HTTP2StreamID> = []
    var pings: Deque<UInt64> = []
    var hasStarted = false

    /// Removes and returns the waiting requests.
    mutating func takeWaiting() -> [HTTP2StreamID] {
        defer { waiting = [] }
        return Array(waiting)
    }

    init(_ settings: HTTP2Settings) {
        initialWindowSize = max(HTTP2Settings().initialWindowSize, settings.initialWindowSize)
    }
}
