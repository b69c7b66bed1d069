internal import DequeModule

/// The sending side of one resource. It reads at most two blocks ahead of the data that it has sent.
struct ResourceSend: Sendable {
    static let block = PeerLimits.partPayload

    private var blocks: Deque<[UInt8]> = []
    private var buffered = 0
    /// The file offset at which the buffered bytes begin.
    private var position: UInt64 = 0
    private var limit: UInt64 = 0
    private var read = ReadState.idle
    private var digest: [UInt8]?
    private(set) var state = State.offered
    /// Whether all bytes were sent at least once, so that the receiver may report completion.
    private(set) var wasComplete = false

    enum State: Equatable, Sendable { case offered, sending, waiting }

    /// How far the reading of the file has progressed. At most one read is pending.
    private enum ReadState: Equatable, Sendable {
        case idle, open
        /// The pending read is outdated, because the receiver has requested another file position since it began. Its
        /// result will be discarded.
        case stale
        case finished
    }

    /// Handles a `GET` frame. `start` is a new start position; `nil` keeps the current position. `limit` is the offset
    /// up to which the sender may send.
    mutating func requested(from start: UInt64?, limit: UInt64) {
        self.limit = max(self.limit, limit)
        if let start, start != position {
            restart(at: start)
        } else if state == .offered {
            state = .sending
        }
    }

    private mutating func restart(at start: UInt64) {
        blocks = []
        buffered = 0
        position = start
        state = .sending
        read = read == .open || read == .stale ? .stale : .idle
    }

    /// If a further read of the file is needed, returns its offset and byte count. Otherwise returns `nil`.
    mutating func nextRead() -> (offset: UInt64, count: Int)? {
        guard state == .sending, read == .idle, buffered < Self.block else { return nil }
        read = .open
        return (position + UInt64(buffered), Self.block)
    }

    /// Processes the result of a file read.
    mutating func provide(_ bytes: [UInt8], isLast: Bool, digest: [UInt8]?) {
        switch read {
        case .open:
            read = isLast ? .finished : .idle
            self.digest = digest
            guard !bytes.isEmpty else { return }
            blocks.append(bytes)
            buffered += bytes.count
        case .stale: read = .idle
        case .idle, .finished: break
        }
    }

    func nextSize(atMost maximum: Int) -> Int? {
        guard state == .sending, let first = blocks.first, limit > position else { return nil }
        return min(first.count, maximum, Int(clamping: limit - position))
    }

    /// Removes and returns the next `PART`'s content.
    mutating func next(atMost maximum: Int) -> (offset: UInt64, bytes: [UInt8])? {
        guard let size = nextSize(atMost: maximum), let first = blocks.popFirst() else { return nil }
        let offset = position
        position += UInt64(size)
        buffered -= size
        guard size < first.count else { return (offset, first) }
        blocks.prepend(Array(first.dropFirst(size)))
        return (offset, Array(first.prefix(size)))
    }

    /// Returns the `DONE` payload once after everything was sent: the size and, if known, the digest.
    mutating func takeDone() -> PeerFields? {
        guard state == .sending, read == .finished, blocks.isEmpty else { return nil }
        state = .waiting
        wasComplete = true
        let fields = PeerFields().with(1, position)
        return digest.map { fields.with(2, $0) } ?? fields
    }
}

/// A resource's receiving side.
struct ResourceReceive: Sendable {
    let offer: ResourceOffer
    private(set) var state = State.offered
    /// The file offset for a delayed `GET`; `nil` if no `GET` is delayed. The `GET` is sent when the program has taken
    /// more end events.
    var heldOffset: UInt64?
    /// The file offset of the next byte that is expected from the sender.
    private(set) var position: UInt64 = 0
    private var consumedCount: UInt64 = 0
    private var granted: UInt64 = 0
    private var end: (size: UInt64, digest: [UInt8]?)?
    private var isRefetching = false

    enum State: Equatable, Sendable { case offered, receiving, complete }

    init(_ offer: ResourceOffer) { self.offer = offer }

    /// Returns a `GET` payload that requests the resource's bytes from `offset` on.
    mutating func fetch(from offset: UInt64) -> PeerFields {
        (state, heldOffset) = (.receiving, nil)
        (position, consumedCount) = (offset, offset)
        isRefetching = false
        granted = offset + UInt64(PeerLimits.resourceWindow)
        return PeerFields().with(1, offset).with(2, granted)
    }

    /// Returns the payload of a `GET` frame. It requests the bytes that were lost when the control link, or the
    /// connection for resource bytes, broke.
    mutating func refetch() -> PeerFields? {
        guard state == .receiving else { return nil }
        isRefetching = true
        return PeerFields().with(1, position).with(2, granted)
    }

    enum Part: Equatable, Sendable { case bytes(UInt64, [UInt8]), ignored, gap, tooMuch }

    /// Handles a `PART` frame. If bytes before this part are missing, a new `GET` frame requests them once. Further
    /// parts are discarded until the missing bytes arrive.
    mutating func arrived(_ offset: UInt64, _ bytes: [UInt8]) -> Part {
        guard state == .receiving, offset == position else {
            return state == .receiving && offset > position && !isRefetching ? .gap : .ignored
        }
        isRefetching = false
        let (end, overflow) = position.addingReportingOverflow(UInt64(bytes.count))
        guard !overflow, end <= granted, offer.size.map({ end <= $0 }) ?? true else { return .tooMuch }
        position = end
        return .bytes(offset, bytes)
    }

    /// Counts bytes that the program has stored. When a quarter of the flow-control window has become free, returns a
    /// `GET` payload that raises the limit.
    mutating func consumed(_ count: Int) -> PeerFields? {
        guard state == .receiving else { return nil }
        consumedCount = min(position, consumedCount + UInt64(max(0, count)))
        let available = consumedCount + UInt64(PeerLimits.resourceWindow)
        guard available >= granted + UInt64(PeerLimits.resourceWindow) / 4 else { return nil }
        granted = available
        return PeerFields().with(2, granted)
    }

    mutating func doneArrived(size: UInt64, digest: [UInt8]?) { end = (size, digest) }

    enum Completion: Equatable, Sendable { case incomplete, complete([UInt8]?), tooMuch }

    mutating func takeCompletion() -> Completion {
        guard state == .receiving, let end else { return .incomplete }
        guard position <= end.size else { return .tooMuch }
        guard position == end.size else { return .incomplete }
        state = .complete
        return .complete(end.digest)
    }
}
