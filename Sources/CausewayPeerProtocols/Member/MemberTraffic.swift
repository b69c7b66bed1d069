internal import DequeModule

/// One member's messages, streams and resources, independent of its links.
struct MemberTraffic: Sendable {
    /// Program content that is sent on the control link: messages, one stream, or one resource.
    enum Channel: Hashable, Sendable {
        case messages
        case stream(UInt16)
        /// Resource bytes. They use the control link while the member has no resource lane, which is a connection only
        /// for resource bytes.
        case part(UInt16)
    }

    let member: MemberID
    /// The link on which the member joined, which distinguishes this membership from the peer's other ones.
    let membership: LinkID
    var queue = ReliableQueue()
    /// Frames without program content that are counted and acknowledged. They do not wait while too many frames are
    /// unacknowledged.
    var control: Deque<PeerFrame> = []
    var outbox = MessageOutbox()
    var unreliable = UnreliableTraffic()
    var streams: StreamTable
    var resources: ResourceTransfer
    var assembler = MessageAssembler(limit: PeerLimits.message)
    private var scheduler = LaneScheduler<Channel>()
    private var lanes = LaneScheduler<UInt16>()
    /// Whether a send returned ``SendResult/full``.
    private var wasFull = false

    init(member: MemberID, isOdd: Bool, joinedOn link: LinkID = LinkID(0)) {
        (self.member, membership) = (member, link)
        streams = StreamTable(isOdd: isOdd)
        resources = ResourceTransfer(isOdd: isOdd)
    }

    // Sending

    /// Queues a message. A reliable message with a key replaces a queued message with the same key.
    mutating func send(_ message: [UInt8], reliably: Bool, key: String? = nil, limit: Int) -> SendResult {
        guard message.count <= PeerLimits.message else { return .tooLarge }
        // Unreliable messages over 64 KiB are sent reliably.
        if !reliably, message.count <= PeerLimits.unreliableMessage {
            guard unreliable.hasRoom(for: message.count) else { return .dropped }
            unreliable.outbox.append(message)
            return .queued
        }
        guard hasRoom(for: message.count - outbox.replacedCount(key), reliably: true, limit: limit) else {
            wasFull = true
            return .full
        }
        outbox.append(message, key: key)
        scheduler.activate(.messages)
        return .queued
    }

    /// Whether the queue has space for a message, so that ``send(_:reliably:limit:)`` does not return
    /// ``SendResult/full``. An empty queue is never full.
    func hasRoom(for byteCount: Int, reliably: Bool, limit: Int) -> Bool {
        let isDroppable = !reliably && byteCount <= PeerLimits.unreliableMessage
        return isDroppable || outbox.isEmpty || outbox.cost + byteCount <= limit
    }

    mutating func activate(_ channel: Channel) { scheduler.activate(channel) }

    /// Schedules a resource's bytes on the member's resource lanes (connections for resource bytes) if `onLane` is
    /// `true`, else on the control link.
    mutating func activatePart(_ number: UInt16, onLane: Bool) {
        if onLane { lanes.activate(number) } else { scheduler.activate(.part(number)) }
    }

    /// Removes and returns the control link's next frame: acknowledgment, retransmissions, control frames, unreliable
    /// messages, then channels in turn.
    mutating func nextFrame(at now: Duration, _ actions: inout Deque<PeerAction>) -> PeerFrame? {
        if let frame = queue.acknowledgment(at: now) { return frame }
        if let frame = queue.nextReplay() { return frame }
        if let frame = control.popFirst() { return queue.record(frame) }
        if let fragment = unreliable.outbox.next() {
            return PeerFrame(.data, flags: fragment.isLast ? [] : .more, payload: fragment.bytes)
        }
        switch nextChannel() {
        case .messages: return nextMessageFrame(&actions)
        case .stream(let number): return nextStreamFrame(number, &actions)
        case .part(let number): return nextPart(number, atMost: PeerLimits.framePayload - 8, &actions)
        case nil: return nil
        }
    }

    /// Whether ``nextFrame(at:_:)`` has a frame now.
    mutating func hasFrame(at now: Duration) -> Bool {
        (queue.deadline.map { $0 <= now } ?? false) || queue.isReplaying || !control.isEmpty
            || !unreliable.outbox.isEmpty
            || nextChannel(isPeek: true) != nil
    }

    /// Whether too many frames without content wait, because the peer does not read or acknowledge them.
    var exceedsControlLimit: Bool {
        control.count > PeerLimits.controlFrames || queue.log.byteCount > 2 * PeerLimits.window
    }

    /// Whether content waits until the peer acknowledges frames or permits more message bytes.
    var awaitsAcknowledgment: Bool {
        !outbox.isEmpty || !queue.hasRoom && streams.outgoing.values.contains { $0.nextSize != nil }
    }

    private mutating func nextChannel(isPeek: Bool = false) -> Channel? {
        var taken = LaneScheduler<Channel>()
        swap(&taken, &scheduler)
        defer { swap(&taken, &scheduler) }
        if isPeek { return taken.peek { size(of: $0) } }
        return taken.next { size(of: $0) }
    }

    private func size(of channel: Channel) -> Int? {
        switch channel {
        case .messages:
            guard let size = outbox.nextSize, queue.permits(messageBytes: size) else { return nil }
            return size
        case .stream(let number): return queue.hasRoom ? streams.outgoing[number]?.nextSize : nil
        case .part(let number): return resources.sends[number]?.nextSize(atMost: PeerLimits.framePayload - 8)
        }
    }

    private mutating func nextMessageFrame(_ actions: inout Deque<PeerAction>) -> PeerFrame? {
        guard let fragment = outbox.next() else { return nil }
        queue.sentMessageBytes(fragment.bytes.count)
        if wasFull, outbox.cost < PeerLimits.window {
            wasFull = false
            actions.append(.space(member))
        }
        return queue.record(PeerFrame(.data, flags: fragment.isLast ? [] : .more, payload: fragment.bytes))
    }

    private mutating func nextStreamFrame(_ number: UInt16, _ actions: inout Deque<PeerAction>) -> PeerFrame? {
        guard let bytes = streams.next(number) else { return nil }
        if let space = streams.spaceToReport(number) { actions.append(.streamSpace(channel(number), space)) }
        endStreamIfDrained(number, &actions)
        return queue.record(PeerFrame(.streamData, channel: number, payload: bytes))
    }

    /// Queues `STREAM_END` if the program ended the stream and all its bytes were passed to a link.
    mutating func endStreamIfDrained(_ number: UInt16, _ actions: inout Deque<PeerAction>) {
        guard streams.takeEnd(number) else { return }
        control.append(PeerFrame(.streamEnd, channel: number))
        actions.append(.streamEnded(channel(number)))
    }

    /// Removes and returns the next frame for a resource lane, a connection that carries only resource bytes.
    mutating func nextLaneFrame(_ actions: inout Deque<PeerAction>) -> PeerFrame? {
        var taken = LaneScheduler<UInt16>()
        swap(&taken, &lanes)
        let number = taken.next { resources.sends[$0]?.nextSize(atMost: PeerLimits.partPayload) }
        swap(&taken, &lanes)
        return number.flatMap { nextPart($0, atMost: PeerLimits.partPayload, &actions) }
    }

    /// Whether ``nextLaneFrame(_:)`` has a frame now.
    mutating func hasLaneFrame() -> Bool {
        var taken = LaneScheduler<UInt16>()
        swap(&taken, &lanes)
        defer { swap(&taken, &lanes) }
        return taken.peek { resources.sends[$0]?.nextSize(atMost: PeerLimits.partPayload) } != nil
    }

    private mutating func nextPart(_ number: UInt16, atMost maximum: Int, _ actions: inout Deque<PeerAction>)
        -> PeerFrame?
    {
        let frame = resources.nextPart(number, atMost: maximum)
        advanceResource(number, &actions)
        return frame
    }

    /// Requests the file's next block, or queues `DONE` when all is sent.
    mutating func advanceResource(_ number: UInt16, _ actions: inout Deque<PeerAction>) {
        if let read = resources.nextRead(number) {
            actions.append(.resourceWanted(channel(number), offset: read.offset, count: read.count))
        }
        if let done = resources.takeDone(number) { control.append(done) }
    }

    func channel(_ number: UInt16) -> ChannelID { ChannelID(member, number, in: membership) }

    // When the link is replaced, or the member is lost

    /// Continues on a new link. Returns `false` if the peer's count of received frames is impossible.
    mutating func resume(from count: UInt64, at now: Duration) -> Bool {
        guard queue.resume(from: count, at: now) else { return false }
        unreliable.resume()
        control.append(contentsOf: resources.refetchAll())
        reactivate()
        return true
    }

    /// Schedules all channels with content, after an event that may have opened their windows.
    mutating func reactivate() {
        if !outbox.isEmpty { scheduler.activate(.messages) }
        for (number, stream) in streams.outgoing where stream.nextSize != nil { scheduler.activate(.stream(number)) }
    }

    /// Ends a lost member's streams and resources, and drops its queues.
    mutating func fail(_ reason: PeerReason, _ actions: inout Deque<PeerAction>) {
        for number in resources.removeAll() { actions.append(.resourceFailed(channel(number), reason)) }
        for number in streams.removeAll() { actions.append(.streamFailed(channel(number), reason)) }
        (outbox, unreliable, control) = (MessageOutbox(), UnreliableTraffic(), [])
    }
}
