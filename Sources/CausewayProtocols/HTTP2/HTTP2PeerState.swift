internal import CausewayWire
internal import DequeModule

/// The announcements of the peer.
struct HTTP2PeerState: Sendable {
    /// The number of priorities to keep for streams that are not open yet.
    private static let maximumEarlyPriorities = 32

    var settings = HTTP2Settings()
    /// The highest identifier of a stream that the peer opened.
    var lastStreamID: HTTP2StreamID = 0
    /// The last GOAWAY frame.
    var goAway: (lastStreamID: HTTP2StreamID, code: HTTP2ErrorCode, debugData: [UInt8])?
    /// Priorities of streams that are not open yet (RFC 9218 §7.1).
    private var earlyPriorities: [(id: HTTP2StreamID, priority: HTTPPriority)] = []

    var isGoingAway: Bool { goAway != nil }

    mutating func setEarlyPriority(_ priority: HTTPPriority, of id: HTTP2StreamID) {
        earlyPriorities.removeAll { $0.id == id }
        if earlyPriorities.count == Self.maximumEarlyPriorities { earlyPriorities.removeFirst() }
        earlyPriorities.append((id, priority))
    }

    /// Removes and returns the priority for a new stream; drops those of streams that can no longer be opened.
    mutating func takeEarlyPriority(of id: HTTP2StreamID) -> HTTPPriority? {
        guard !earlyPriorities.isEmpty else { return nil }
        let found = earlyPriorities.last { $0.id == id }?.priority
        earlyPriorities.removeAll { $0.id <= id }
        return found
    }
}

/// The state of this side beyond its streams.
struct HTTP2OwnState: Sendable {
    /// The opaque data of the PING frame that finds the end of requests in flight (RFC 9113 §6.8).
    static let shutdownPing: UInt64 = 0x4341_5553_4557_4159
    /// The maximum number of pings without an answer.
    static let maximumPingCount = 64

    /// The identifier of the next stream of a client.
    var nextStreamID: HTTP2StreamID = 1
    /// The initial receive window in force: the larger of the default and the setting until the peer acknowledges the setting.
    var initialWindowSize: Int
    /// The time by which the peer has to acknowledge the settings; `nil` if it did.
    var settingsDeadline: Duration?
    /// The last stream identifier of the last GOAWAY frame that was sent.
    var goAway: HTTP2StreamID?
    /// The time at which a graceful end stops to wait for requests in flight.
    var shutdownDeadline: Duration?
    /// Requests that wait for the limit of concurrent streams, in the order of their identifiers.
    var waiting: Deque<HTTP2StreamID> = []
    var pings: Deque<UInt64> = []
    var hasStarted = false

    /// Removes and returns the requests that wait.
    mutating func takeWaiting() -> [HTTP2StreamID] {
        defer { waiting = [] }
        return Array(waiting)
    }

    init(_ settings: HTTP2Settings) {
        initialWindowSize = max(HTTP2Settings().initialWindowSize, settings.initialWindowSize)
    }
}
