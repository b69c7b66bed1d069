internal import CausewayWire
internal import DequeModule

/// The streams by identifier, and a record of recently closed streams.
///
/// An endpoint's stream identifiers increase by two, so half the identifier is a good hash, and a lookup takes about
/// one comparison.
struct HTTP2StreamTable: Sendable {
    /// How a stream was closed. This determines how late frames on the stream are handled (RFC 9113 §5.1).
    enum Closing: Sendable {
        /// Both sides ended the stream, or the peer reset it. The peer must not send on the stream.
        case byPeer
        /// This side reset the stream. The peer may not have received the reset yet.
        case byReset
        /// The response is complete. The rest of the request is discarded.
        case draining
    }

    /// The maximum number of closed streams to remember. Frames on streams closed earlier are unlikely to be still in
    /// flight.
    private static let memory = 256

    private var slots: [HTTP2Stream?] = Array(repeating: nil, count: 16)
    private(set) var count = 0
    private var draining = HTTP2DrainingStreams()
    private var closed: Deque<(id: HTTP2StreamID, closing: Closing)> = []

    /// Returns a stream's slot; `nil` if it is not in the table.
    private func place(of id: HTTP2StreamID) -> Int? {
        let mask = slots.count - 1
        var place = Int(id >> 1) & mask
        while let stream = slots[place]?.id {
            if stream == id { return place }
            place = (place + 1) & mask
        }
        return nil
    }

    func contains(_ id: HTTP2StreamID) -> Bool { place(of: id) != nil }

    subscript(id: HTTP2StreamID) -> HTTP2Stream? { place(of: id).flatMap { slots[$0] } }

    /// Changes a stream in place. Returns `nil` if the stream is not in the table.
    mutating func update<Result>(_ id: HTTP2StreamID, _ change: (inout HTTP2Stream) -> Result) -> Result? {
        guard let place = place(of: id) else { return nil }
        return change(&slots[place]!)
    }

    /// Changes all streams in place.
    mutating func updateAll(_ change: (inout HTTP2Stream) -> Void) {
        for place in slots.indices where slots[place] != nil { change(&slots[place]!) }
    }

    /// All stream identifiers in ascending order.
    var identifiers: [HTTP2StreamID] { slots.compactMap { $0?.id }.sorted() }

    mutating func insert(_ stream: HTTP2Stream) {
        if 2 * (count + 1) > slots.count { grow() }
        slots[freePlace(for: stream.id)] = stream
        count += 1
    }

    private func freePlace(for id: HTTP2StreamID) -> Int {
        let mask = slots.count - 1
        var place = Int(id >> 1) & mask
        while slots[place] != nil { place = (place + 1) & mask }
        return place
    }

    /// Empties one slot of the table. A lookup stops at the first empty slot. So this method also moves streams in
    /// later slots that a lookup would otherwise miss.
    private mutating func remove(at removed: Int) {
        let mask = slots.count - 1
        var hole = removed
        slots[hole] = nil
        var place = (hole + 1) & mask
        while let id = slots[place]?.id {
            let home = Int(id >> 1) & mask
            // Move the stream to the empty slot if this slot is on the way from the stream's preferred slot to its
            // current slot.
            if (place - home) & mask >= (place - hole) & mask {
                slots.swapAt(hole, place)
                hole = place
            }
            place = (place + 1) & mask
        }
    }

    private mutating func grow() {
        let streams = slots.compactMap { $0 }
        slots = Array(repeating: nil, count: slots.count * 2)
        for stream in streams { slots[freePlace(for: stream.id)] = stream }
    }
}

// MARK: - Closed streams

extension HTTP2StreamTable {
    /// The number of draining streams. These are closed streams whose remaining request content is discarded as it
    /// arrives.
    var drainingCount: Int { draining.count }
    /// The time at which the first draining stream must be reset. If its request content has ended by then, it is not
    /// reset.
    var firstDrainDeadline: Duration? { draining.firstDeadline }

    /// Removes a stream and remembers how it was closed.
    @discardableResult
    mutating func close(_ id: HTTP2StreamID, _ closing: Closing) -> HTTP2Stream? {
        guard let place = place(of: id), let stream = slots[place] else { return nil }
        remove(at: place)
        count -= 1
        remember(id, closing)
        return stream
    }

    /// Remembers how a stream was closed. This also applies to streams that were never in the table, such as refused
    /// streams.
    mutating func remember(_ id: HTTP2StreamID, _ closing: Closing) {
        if closed.count == Self.memory { closed.removeFirst() }
        closed.append((id, closing))
        if closing == .draining { draining.append(id) }
    }

    /// Returns how a stream was closed; `nil` if it is not remembered.
    func closing(of id: HTTP2StreamID) -> Closing? {
        if !draining.isEmpty, draining.contains(id) { return .draining }
        // A stream in `closed` may still be recorded as draining, although its content is no longer awaited. In this
        // case, its drain time has passed and it was reset.
        return closed.last { $0.id == id }.map { $0.closing == .draining ? .byReset : $0.closing }
    }

    /// Records that a draining stream's request content has ended. Such content is discarded. Returns `false` if the
    /// stream was not draining.
    mutating func endDraining(_ id: HTTP2StreamID) -> Bool {
        guard !draining.isEmpty, draining.remove(id) else { return false }
        remember(id, .byPeer)
        return true
    }

    /// Sets the deadline of the draining streams that have no deadline yet.
    mutating func setDrainDeadlines(_ deadline: Duration) { draining.setDeadlines(deadline) }

    /// Removes and returns the first draining stream whose deadline has passed.
    mutating func takeDrained(at now: Duration) -> HTTP2StreamID? { draining.takeExpired(at: now) }

    mutating func removeDraining() { draining.removeAll() }
}
