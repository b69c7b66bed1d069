internal import CausewayTypes

/// The stages of a protocol stack, ordered from bottom to top. Moves content between the stages, and measures how long
/// the handshakes take.
struct StageList: Sendable {
    private struct Entry: Sendable {
        let id: ProtocolStack.StageID
        var stage: any ProtocolStage
        var started: Duration?
        var opened: Duration?
        var wasStarted: Bool { started != nil }
    }

    private var entries: [Entry]
    private var lastNumber: Int

    init(_ stages: [any ProtocolStage]) {
        precondition(!stages.isEmpty, "a stack needs at least one stage")
        entries = stages.enumerated().map { Entry(id: ProtocolStack.StageID(number: $0), stage: $1) }
        lastNumber = stages.count - 1
    }

    var count: Int { entries.count }
    var ids: [ProtocolStack.StageID] { entries.map(\.id) }
    /// The stage next to the transport. Callers change it in place, because a copy of the stage would also copy its
    /// buffers.
    var bottom: any ProtocolStage {
        get { entries[0].stage }
        @inline(__always) _modify { yield &entries[0].stage }
    }
    /// The stage at the top, next to the program. Changes are made in place, as for ``bottom``.
    var top: any ProtocolStage {
        get { entries[entries.count - 1].stage }
        @inline(__always) _modify { yield &entries[entries.count - 1].stage }
    }
    /// The durations of the completed handshakes, from bottom to top.
    var handshakes: [(stage: ProtocolStack.StageID, duration: Duration)] {
        entries.compactMap { entry in
            guard let started = entry.started, let opened = entry.opened else { return nil }
            return (entry.id, opened - started)
        }
    }
    /// Whether a started handshake is waiting for a message from the peer.
    var awaitsPeer: Bool { entries.contains { $0.wasStarted && $0.stage.awaitsPeer } }

    func awaitsGoodbye(_ index: Int) -> Bool {
        entries.indices.contains(index) && entries[index].stage.awaitsGoodbye
    }

    // MARK: Events and time

    /// Removes and returns the first event of the lowest stage that has one.
    mutating func takeEvent() -> (stage: ProtocolStack.StageID, event: any StageEvent)? {
        for index in entries.indices {
            if let event = entries[index].stage.nextEvent() { return (entries[index].id, event) }
        }
        return nil
    }

    mutating func earliestDeadline() -> Duration? {
        var earliest: Duration?
        for index in entries.indices {
            guard let time = entries[index].stage.deadline else { continue }
            earliest = min(time, earliest ?? time)
        }
        return earliest
    }

    mutating func runTimers(dueAt now: Duration) {
        for index in entries.indices { entries[index].stage.advance(to: now) }
    }

    mutating func abort(_ failure: Failure) {
        for index in entries.indices { entries[index].stage.abort(failure) }
    }

    // MARK: Stages

    /// Calls `body` with a stage.
    ///
    /// - Returns: The result of `body`; `nil` if the stage does not exist or has another type.
    mutating func withStage<Stage: ProtocolStage, Result>(
        _ id: ProtocolStack.StageID, as type: Stage.Type, _ body: (inout Stage) -> Result
    ) -> Result? {
        guard let index = entries.firstIndex(where: { $0.id == id }), var stage = entries[index].stage as? Stage else {
            return nil
        }
        // Take the stage out of the array before the change. If the array kept a second reference to the stage, each
        // change would copy the stage's buffers.
        entries[index].stage = VacantStage()
        defer { entries[index].stage = stage }
        return body(&stage)
    }

    /// Inserts a new stage above an existing stage.
    ///
    /// - Returns: The new stage's identifier; `nil` if the stage below is already ready or does not exist.
    mutating func insert(_ stage: any ProtocolStage, above id: ProtocolStack.StageID) -> ProtocolStack.StageID? {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return nil }
        switch entries[index].stage.status {
        case .idle, .opening: break
        case .ready, .closed, .failed: return nil
        }
        lastNumber += 1
        let newID = ProtocolStack.StageID(number: lastNumber)
        entries.insert(Entry(id: newID, stage: stage), at: index + 1)
        return newID
    }

    // MARK: Settling

    /// Moves content between the stages, starts stages and closes stages. Repeats this until nothing changes.
    ///
    /// - Returns: Whether anything changed.
    mutating func settle(_ life: inout StackLifecycle, at now: Duration) -> Bool {
        var turns = 0
        var moved = true
        while moved {
            moved = open(&life, at: now)
            if !life.hasEnded { moved = carryUp(isClosing: life.isClosing, at: now) || moved }
            moved = carryDown(isClosing: life.isClosing, at: now) || moved
            moved = observe(&life, at: now) || moved
            turns += 1
        }
        return turns > 1
    }

    /// Handles stages that have failed or closed.
    ///
    /// - Returns: Whether there was such a stage.
    mutating func observe(_ life: inout StackLifecycle, at now: Duration) -> Bool {
        guard !life.hasEnded else { return false }
        for index in entries.indices {
            guard case .failed(let failure) = entries[index].stage.status else { continue }
            life.failed(failure)
            for above in entries.indices[(index + 1)...] { entries[above].stage.abort(failure) }
            return true
        }
        guard let closing = life.closing, closing < entries.count, entries[closing].stage.status == .closed else {
            return false
        }
        closeNext(&life, at: now)
        return true
    }

    /// Closes the stage below the stage that has closed.
    mutating func closeNext(_ life: inout StackLifecycle, at now: Duration) {
        if let index = life.nextClosing() { entries[index].stage.close(at: now) }
    }

    /// Starts the lowest stage that has not started, if all stages below it are ready. Reports `ready` when all stages
    /// are ready.
    private mutating func open(_ life: inout StackLifecycle, at now: Duration) -> Bool {
        guard life.isOpening else { return false }
        for index in entries.indices {
            if !entries[index].wasStarted {
                entries[index].started = now
                entries[index].stage.start(at: now)
                return true
            }
            guard entries[index].stage.status == .ready else { return false }
            entries[index].opened = entries[index].opened ?? now
        }
        life.becameReady()
        return true
    }

    private mutating func carryUp(isClosing: Bool, at now: Duration) -> Bool {
        var moved = false
        for index in entries.indices.dropLast() where entries[index + 1].wasStarted {
            while true {
                let room = entries[index + 1].stage.inboundRoom
                guard room > 0, let chunk = entries[index].stage.nextInbound(atMost: room) else { break }
                // Pass only content to the stage above. A control message may arrive in the middle of a content
                // message.
                if chunk.kind == .content { entries[index + 1].stage.receive(chunk, at: now) }
                moved = true
            }
        }
        // After close(), the program reads no more content. So discard received content. Otherwise, it would fill the
        // protocol stack before the peer's closing message arrives.
        if isClosing, let top = entries.indices.last {
            while entries[top].stage.nextInbound(atMost: .max) != nil { moved = true }
        }
        return moved
    }

    private mutating func carryDown(isClosing: Bool, at now: Duration) -> Bool {
        var moved = false
        for index in entries.indices.dropFirst().reversed() where entries[index].wasStarted {
            while mayCarryDown(to: index - 1, isClosing: isClosing),
                let chunk = entries[index].stage.nextOutbound(atMost: .max)
            {
                entries[index - 1].stage.send(chunk, at: now)
                moved = true
            }
        }
        return moved
    }

    /// Whether content may move down to the stage at `index`.
    ///
    /// A stage that has sent its closing message accepts no more content. The stage above it then keeps the content,
    /// and the program does not consider the content as sent. If the whole stack is closing, the content moves down and
    /// is discarded.
    private mutating func mayCarryDown(to index: Int, isClosing: Bool) -> Bool {
        entries[index].stage.outboundRoom > 0 && (isClosing || entries[index].stage.takesContent)
    }
}

/// Takes the place of a stage in the array while `withStage` changes that stage.
private struct VacantStage: ProtocolStage {
    var status: StageStatus { .idle }
    var inboundRoom: Int { 0 }
    var outboundRoom: Int { 0 }
    mutating func start(at now: Duration) {}
    mutating func receive(_ chunk: MessageChunk, at now: Duration) {}
    mutating func nextInbound(atMost limit: Int) -> MessageChunk? { nil }
    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool { false }
    mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { nil }
    mutating func close(at now: Duration) {}
    mutating func abort(_ failure: Failure) {}
}
