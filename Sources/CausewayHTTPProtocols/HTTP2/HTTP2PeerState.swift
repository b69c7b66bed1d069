internal import CausewayWire
internal import DequeModule

/// The state that the peer has announced.
struct HTTP2PeerState: Sendable {
    /// The maximum number of priorities to keep for streams that are not yet open.
    private static let maximumEarlyPriorities = 32

    var settings = HTTP2Settings()
    /// The highest identifier of a stream that the peer opened.
    var lastStreamID: HTTP2StreamID = 0
    /// The last GOAWAY frame from the peer.
    var goAway: (lastStreamID: HTTP2StreamID, code: HTTP2ErrorCode, debugData: [UInt8])?
    /// Priorities of streams that are not open yet (RFC 9218 §7.1).
    private var earlyPriorities: [(id: HTTP2StreamID, priority: HTTPPriority)] = []

    var isGoingAway: Bool { goAway != nil }

    mutating func setEarlyPriority(_ priority: HTTPPriority, of id: HTTP2StreamID) {
        earlyPriorities.removeAll { $0.id == id }
        if earlyPriorities.count == Self.maximumEarlyPriorities { earlyPriorities.removeFirst() }
        earlyPriorities.append((id, priority))
    }

    /// Removes and returns the priority for a new stream. Discards the priorities of streams that can no longer be opened.
    mutating func takeEarlyPriority(of id: HTTP2StreamID) -> HTTPPriority? {
        guard !earlyPriorities.isEmpty else { return nil }
        let found = earlyPriorities.last { $0.id == id }?.priority
        earlyPriorities.removeAll { $0.id <= id }
        return found
    }
}

/// The state of this side that does not belong to a single stream.
struct HTTP2OwnState: Sendable {
    /// The opaque data of the PING frame whose acknowledgment shows that all requests in flight have arrived (RFC 9113 §6.8).
    static let shutdownPing: UInt64 = 0x4341_5553_4557_4159
    /// The opaque data of the PING frame that follows the end of a discarded request.
    static let drainPing: UInt64 = 0x4452_4149_4E45_4421
    /// The maximum number of pings that are not acknowledged.
    static let maximumPingCount = 64

    /// The identifier of the next stream of a client.
    var nextStreamID: HTTP2StreamID = 1
    /// The initial receive window that applies. Until the peer acknowledges the setting, it is the larger of the default and the setting.
    var initialWindowSize: Int
    /// The time by which the peer must acknowledge the settings; `nil` after the acknowledgment.
    var settingsDeadline: Duration?
    /// The round-trip time; `nil` until the peer acknowledges the settings.
    var roundTrip: Duration?
    /// The last stream identifier of the last GOAWAY frame that was sent.
    var goAway: HTTP2StreamID?
    /// The time at which a graceful shutdown stops waiting for requests in flight.
    var shutdownDeadline: Duration?
    /// Requests that wait because of the limit of concurrent streams, in order of their identifiers.
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
