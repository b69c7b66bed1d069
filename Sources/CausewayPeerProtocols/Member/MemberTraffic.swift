internal import DequeModule

/// One member's messages, streams and resources, independent of its links.
struct MemberTraffic: Sendable {
    /// What a frame on the control link carries for the program: messages, bytes of one stream, or bytes of one
    /// resource.
    enum Channel: Hashable, Sendable {
        case messages
        case stream(UInt16)
        /// Bytes of a resource. The control link carries them while the member has no resource lane, which is a
        /// separate connection for resource bytes.
        case part(UInt16)
    }

    let member: MemberID
    /// The link on which the member joined. It distinguishes this membership from other memberships of the same peer.
    let membership: LinkID
    var queue = ReliableQueue()
    /// Protocol frames that carry no content from the program. Like other frames, they are counted and acknowledged.
    /// But they are sent even if too many frames are unacknowledged.
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

    // Functions for sending messages

    /// Queues a message. A reliable message with a key replaces a queued message with the same key.
    mutating func send(_ message: [UInt8], reliably: Bool, key: String? = nil, limit: Int) -> SendResult {
        guard message.count <= PeerLimits.message else { return .tooLarge }
        // An unreliable message over 64 KiB is sent as a reliable message.
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

    /// Schedules bytes of a file transfer. With `onLane`, the bytes use the member's resource lanes, which are
    /// connections only for resource bytes. Without it, they use the control link.
    mutating func activatePart(_ number: UInt16, onLane: Bool) {
        if onLane { lanes.activate(number) } else { scheduler.activate(.part(number)) }
    }

    /// Removes and returns the control link's next frame. The order is: acknowledgment, retransmissions, control
    /// frames, unreliable messages, then channels in turn.
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

    /// Whether too many frames without content are waiting. The reason is that the peer does not read or acknowledge
    /// them.
    var exceedsControlLimit: Bool {
        control.count > PeerLimits.controlFrames || queue.log.byteCount > 2 * PeerLimits.window
    }

    /// Whether content waits to be sent. It waits until the peer acknowledges frames or permits more message bytes.
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

    /// Queues `STREAM_END` if the program has ended the stream and all of its bytes were passed to a link.
    mutating func endStreamIfDrained(_ number: UInt16, _ actions: inout Deque<PeerAction>) {
        guard streams.takeEnd(number) else { return }
        control.append(PeerFrame(.streamEnd, channel: number))
        actions.append(.streamEnded(channel(number)))
    }

    /// Removes and returns the next frame to send on a resource lane. A resource lane is a connection that carries only
    /// resource bytes.
    mutating func nextLaneFrame(_ actions: inout Deque<PeerAction>) -> PeerFrame? {
        var taken = LaneScheduler<UInt16>()
        swap(&taken, &lanes)
        let number = taken.next { resources.sends[$0]?.nextSize(atMost: PeerLimits.partPayload) }
        swap(&taken, &lanes)
        return number.flatMap { nextPart($0, atMost: PeerLimits.partPayload, &actions) }
    }

    /// Whether a frame can be sent on a resource lane now. If so, ``nextLaneFrame(_:)`` returns it.
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

    /// Requests the next block of the file. If all blocks were sent, queues `DONE`.
    mutating func advanceResource(_ number: UInt16, _ actions: inout Deque<PeerAction>) {
        if let read = resources.nextRead(number) {
            actions.append(.resourceWanted(channel(number), offset: read.offset, count: read.count))
        }
        if let done = resources.takeDone(number) { control.append(done) }
    }

    func channel(_ number: UInt16) -> ChannelID { ChannelID(member, number, in: membership) }

    // Link replacement and loss of the member

    /// Continues on a new link. Returns `false` if the peer reports an impossible number of received frames.
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

    /// Ends the streams and resources of a lost member, and drops its queued messages.
    mutating func fail(_ reason: PeerReason, _ actions: inout Deque<PeerAction>) {
        for number in resources.removeAll() { actions.append(.resourceFailed(channel(number), reason)) }
        for number in streams.removeAll() { actions.append(.streamFailed(channel(number), reason)) }
        (outbox, unreliable, control) = (MessageOutbox(), UnreliableTraffic(), [])
    }
}
