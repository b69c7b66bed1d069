internal import CausewayTypes

extension ProtocolStack {
    /// Moves everything as far as it goes.
    ///
    /// - Returns: Whether anything moved.
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

    /// Starts each stage above a ready one.
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
        news = .ready
        return true
    }

    private mutating func carryUp(at now: Duration) -> Bool {
        guard phase != .ended else { return false }
        var moved = false
        for index in places.indices.dropLast() where places[index + 1].wasStarted {
            while true {
                let room = places[index + 1].stage.inboundRoom
                guard room > 0, let chunk = places[index].stage.nextInbound(atMost: room) else { break }
                // A control message is not input of the protocol above, and may interrupt a message.
                if chunk.kind == .content { places[index + 1].stage.receive(chunk, at: now) }
                moved = true
            }
        }
        // Nobody reads any more, and a goodbye may stand behind what nobody reads.
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

    /// Where a protocol has said goodbye of itself, what stands above it waits for the end, and never looks sent. Once the stack
    /// closes nobody waits any more.
    private mutating func mayCarryDown(to index: Int) -> Bool {
        places[index].stage.outboundRoom > 0 && (closing != nil || places[index].stage.takesContent)
    }

    /// Where nothing is to be carried: looks whether the one stage has failed, and what it may have.
    private mutating func observePlain(at now: Duration) -> Bool {
        let pendingFlags = places[0].stage.pendingFlags
        guard !pendingFlags.hasFailed else { return observe(at: now) }
        nothingPending.event = !pendingFlags.mayHaveEvent && news == nil
        nothingPending.inbound = !pendingFlags.mayHaveInbound
        nothingPending.outbound = !pendingFlags.mayHaveOutbound
        nothingPending.wakeUp = !pendingFlags.mayHaveWakeUp
        return false
    }

    /// Looks for stages that have failed or closed.
    mutating func observe(at now: Duration) -> Bool {
        guard phase != .ended else { return false }
        for index in places.indices {
            guard case .failed(let failure) = places[index].stage.status else { continue }
            phase = .ended
            news = .failed(failure)
            for above in places.indices[(index + 1)...] { places[above].stage.abort(failure) }
            return true
        }
        guard let closing, closing < places.count, places[closing].stage.status == .closed else { return false }
        closeNext(at: now)
        return true
    }

    /// Closes the stage beneath the one that has closed.
    mutating func closeNext(at now: Duration) {
        guard let above = closing else { return }
        closing = above - 1
        guard above > 0 else {
            closing = 0
            phase = .ended
            news = .closed
            return
        }
        places[above - 1].stage.close(at: now)
    }
}
