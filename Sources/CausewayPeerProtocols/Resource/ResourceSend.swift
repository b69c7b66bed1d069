internal import DequeModule

/// A resource's sending side. It reads ahead at most two blocks.
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

    /// The state of reading from the file. At most one read is pending.
    private enum ReadState: Equatable, Sendable {
        case idle, open
        /// A read is pending, but the receiver requested another file position after the read began. The read's result
        /// will be ignored.
        case stale
        case finished
    }

    /// Handles `GET`. `start` is a new start position, or `nil`. `limit` is the offset up to which the sender may send.
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

    /// Returns the next file read, if one is needed.
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
    /// The file offset for a `GET` that is sent later, when the program has taken more end events; `nil` if no `GET`
    /// waits.
    var heldOffset: UInt64?
    /// The file offset of the next byte to arrive.
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

    /// Returns a `GET` payload for the bytes that were lost when a connection for resource bytes or the control link
    /// broke.
    mutating func refetch() -> PeerFields? {
        guard state == .receiving else { return nil }
        isRefetching = true
        return PeerFields().with(1, position).with(2, granted)
    }

    enum Part: Equatable, Sendable { case bytes(UInt64, [UInt8]), ignored, gap, tooMuch }

    /// Handles a `PART`. If bytes before this part are missing, a new `GET` requests them once. Further parts are
    /// ignored until the missing bytes arrive.
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

    /// Counts bytes that the program has stored. Returns a `GET` payload that raises the limit, each time a quarter of
    /// the flow-control window has become free.
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
