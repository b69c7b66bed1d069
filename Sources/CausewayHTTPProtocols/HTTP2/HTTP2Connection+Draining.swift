package import CausewayWire

/// Streams whose response was complete before their request (RFC 9113 §8.1). The program sees them as closed.
struct HTTP2DrainingStreams: Sendable {
    /// The streams, in the order in which they began to drain. A deadline is `nil` until ``setDeadlines(_:)``.
    private var entries: [(id: HTTP2StreamID, deadline: Duration?)] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// The time at which the first stream must be reset.
    var firstDeadline: Duration? { entries.first?.deadline }

    func contains(_ id: HTTP2StreamID) -> Bool { entries.contains { $0.id == id } }

    mutating func append(_ id: HTTP2StreamID) { entries.append((id, nil)) }

    /// Returns whether the stream was draining.
    mutating func remove(_ id: HTTP2StreamID) -> Bool {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: place)
        return true
    }

    /// Sets the deadline for streams without one.
    mutating func setDeadlines(_ deadline: Duration) {
        for place in entries.indices.reversed() {
            guard entries[place].deadline == nil else { return }
            entries[place].deadline = deadline
        }
    }

    /// Removes and returns the first stream whose deadline has passed.
    mutating func takeExpired(at now: Duration) -> HTTP2StreamID? {
        guard let firstDeadline, now >= firstDeadline else { return nil }
        return entries.removeFirst().id
    }

    mutating func removeAll() { entries = [] }
}

extension HTTP2Connection {
    /// Closes a server stream with a complete response and an incomplete request (RFC 9113 §8.1). Call ``settle(at:)`` afterwards.
    ///
    /// Further content is discarded. After ``HTTP2Configuration/drainTime`` the stream is reset with NO_ERROR. An
    /// immediate reset is permitted, but a client that receives the reset together with the response may lose the
    /// response: curl 7.88 then reports an error.
    package mutating func discardRequest(_ id: HTTP2StreamID) {
        guard phase != .ended, let stream = streams[id] else { return }
        guard role == .server, stream.sending == .ended, stream.receiving == .content else {
            return reset(id, .noError)
        }
        streams.draining.append(id)
        close(id, .byReset, nil)
    }

    /// Starts the timeouts for newly draining streams. Call this after all other changes at a given time.
    package mutating func settle(at now: Duration) {
        if !streams.draining.isEmpty { streams.draining.setDeadlines(now + configuration.drainTime) }
    }

    /// Records the end of a discarded request. Returns whether the stream was draining.
    @discardableResult
    mutating func endDraining(_ id: HTTP2StreamID) -> Bool {
        guard !streams.draining.isEmpty, streams.draining.remove(id) else { return false }
        streams.remember(id, .byPeer)
        endIfDone()
        return true
    }

    /// Records that a discarded request is complete. A PING follows: curl 7.88 notices the end of such a stream only
    /// when it receives another frame.
    mutating func completeDraining(_ id: HTTP2StreamID) {
        if endDraining(id) { sendPing(HTTP2OwnState.drainPing) }
    }

    /// Resets streams whose drain time has passed.
    mutating func resetDrained(at now: Duration) {
        guard let deadline = streams.draining.firstDeadline, now >= deadline else { return }
        while let id = streams.draining.takeExpired(at: now) { output.append(.resetStream(.noError), on: id) }
        endIfDone()
    }
}
