internal import CausewayTypes

extension ProtocolStack {
    /// Moves content between the stages, and starts and closes stages, until nothing changes.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func settle(at now: Duration) -> Bool {
        nothingPending = NothingPending()
        guard wasStarted else { return false }
        if isPlain { return observePlain(at: now) }
        var turns = 0
        var moved = true
        while moved {
            moved = open(at: now)
            moved = carryUp(at: now) || moved
            moved = carryDown(at: now) || moved
            moved = observe(at: now) || moved
            turns += 1
        }
        return turns > 1
    }

    /// Starts the lowest stage that has not started, if all stages below it are ready. Reports `ready` when all stages
    /// are ready.
    private mutating func open(at now: Duration) -> Bool {
        guard phase == .opening, closing == nil else { return false }
        for index in places.indices {
            if !places[index].wasStarted {
                places[index].started = now
                places[index].stage.start(at: now)
                return true
            }
            guard places[index].stage.status == .ready else { return false }
            places[index].opened = places[index].opened ?? now
        }
        phase = .ready
        wasReady = true
        pendingEvent = .ready
        return true
    }

    private mutating func carryUp(at now: Duration) -> Bool {
        guard phase != .ended else { return false }
        var moved = false
        for index in places.indices.dropLast() where places[index + 1].wasStarted {
            while true {
                let room = places[index + 1].stage.inboundRoom
                guard room > 0, let chunk = places[index].stage.nextInbound(atMost: room) else { break }
                // Do not pass control messages to the stage above, because they may come in the middle of a message.
                if chunk.kind == .content { places[index + 1].stage.receive(chunk, at: now) }
                moved = true
            }
        }
        // After close() the program no longer reads. Discard received content, because the peer's closing message may come after it.
        if closing != nil, let top = places.indices.last {
            while places[top].stage.nextInbound(atMost: .max) != nil { moved = true }
        }
        return moved
    }

    private mutating func carryDown(at now: Duration) -> Bool {
        var moved = false
        for index in places.indices.dropFirst().reversed() where places[index].wasStarted {
            while mayCarryDown(to: index - 1), let chunk = places[index].stage.nextOutbound(atMost: .max) {
                places[index - 1].stage.send(chunk, at: now)
                moved = true
            }
        }
        return moved
    }

    /// Whether content may be moved down to the stage. A stage that has sent its closing message accepts no content. Content for it then
    /// stays in the stage above, so that the program does not regard the content as sent. If the whole stack is closing, the content is
    /// moved down and discarded.
    private mutating func mayCarryDown(to index: Int) -> Bool {
        places[index].stage.outboundRoom > 0 && (closing != nil || places[index].stage.takesContent)
    }

    /// Checks a single-stage stack for a failure, and records the kinds of output that the stage may have. There is no
    /// content to move between stages.
    private mutating func observePlain(at now: Duration) -> Bool {
        let pendingFlags = places[0].stage.pendingFlags
        guard !pendingFlags.hasFailed else { return observe(at: now) }
        nothingPending.event = !pendingFlags.mayHaveEvent && pendingEvent == nil
        nothingPending.inbound = !pendingFlags.mayHaveInbound
        nothingPending.outbound = !pendingFlags.mayHaveOutbound
        nothingPending.wakeUp = !pendingFlags.mayHaveWakeUp
        return false
    }

    /// Handles stages that have failed or closed.
    mutating func observe(at now: Duration) -> Bool {
        guard phase != .ended else { return false }
        for index in places.indices {
            guard case .failed(let failure) = places[index].stage.status else { continue }
            phase = .ended
            pendingEvent = .failed(failure)
            for above in places.indices[(index + 1)...] { places[above].stage.abort(failure) }
            return true
        }
        guard let closing, closing < places.count, places[closing].stage.status == .closed else { return false }
        closeNext(at: now)
        return true
    }

    /// Closes the next stage, below the one that has closed.
    mutating func closeNext(at now: Duration) {
        guard let above = closing else { return }
        closing = above - 1
        guard above > 0 else {
            closing = 0
            phase = .ended
            pendingEvent = .closed
            return
        }
        places[above - 1].stage.close(at: now)
    }
}
