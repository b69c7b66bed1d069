extension ReplayQueue {
    /// Applies the resolver's decision about a refused operation. A new request that exceeds the total size stops the
    /// operation's lane. If a new request is not used, its content is released.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - decision: The decision; `rewrite` carries the new request and its key.
    ///   - status: The status with which the server refused the operation.
    ///   - now: The current time.
    ///   - jitter: The random part of a wait, from 0 to 1.
    package mutating func resolved(
        _ id: UInt64, _ decision: OfflineDecision<StoredRewrite>, status: Int,
        at now: ReplayTime, jitter: Double
    ) -> [ReplayEffect] {
        guard let entry = entries[id], entry.phase == .asking else {
            if case .rewrite(let new) = decision { return [.release(new.message.body)] }
            return []
        }
        active.remove(id)
        switch decision {
        case .drop:
            let isConflict = status == 409 || status == 412
            return finish(id, isConflict ? .conflicted(status: status) : .rejected(status: status), at: now.date)
        case .stop: return stop(id, .refused(status: status))
        case .retry:
            // The record `returned` was already stored when the resolver was asked.
            let effects = wait(id, counts: true, at: now, jitter: jitter, isCounted: true)
            return effects.filter { $0 != .store(.returned(id, counts: true)) }
        case .rewrite(let new):
            guard hasRoom(for: new.message, inPlaceOf: entry) else {
                return stop(id, .refused(status: status)) + [.release(new.message.body)]
            }
            entries[id]?.phase = .waiting
            return replace(id, new.message, key: new.key)
        }
    }

    /// Cancels an operation, and interrupts a running attempt.
    package mutating func cancel(_ id: UInt64, at date: Int64) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = entries[id], entry.phase != .storing else { throw .unknown }
        let isSending = entry.phase == .sending
        if isSending {
            backoff.abandoned(id)
            entries[id]?.operation.progress.count()
        }
        let mayHaveBeenSent = isSending || entry.operation.progress.attempts > 0
        return (isSending ? [.interrupt(id)] : [])
            + finish(id, .cancelled(mayHaveBeenSent: mayHaveBeenSent), at: date)
    }

    /// Replaces an operation's request. For the server, the operation is then new: it has a new key and no attempts. A
    /// stopped lane continues.
    package mutating func edit(
        _ id: UInt64, _ message: StoredMessage, key: String
    ) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = entries[id], entry.phase != .storing else { throw .unknown }
        guard entry.phase != .sending, entry.phase != .asking else { throw .busy }
        guard hasRoom(for: message, inPlaceOf: entry) else {
            throw .full("the contents of the queue have \(limits.totalByteCount) bytes")
        }
        entries[id]?.phase = .waiting
        return replace(id, message, key: key)
    }

    /// Whether the contents stay within ``OfflineLimits/totalByteCount`` or do not grow. The limit may have been higher
    /// at the program's last start.
    private func hasRoom(for message: StoredMessage, inPlaceOf entry: Entry) -> Bool {
        let growth = message.body.storedByteCount - entry.operation.message.body.storedByteCount
        return growth <= 0 || storedByteCount + growth <= Int64(limits.totalByteCount)
    }

    private mutating func replace(_ id: UInt64, _ message: StoredMessage, key: String) -> [ReplayEffect] {
        guard let old = entries[id]?.operation.message.body else { return [] }
        storedByteCount += message.body.storedByteCount - old.storedByteCount
        entries[id]?.operation.message = message
        entries[id]?.operation.key = key
        entries[id]?.operation.progress = StoredOperation.Progress()
        entries[id]?.notBefore = nil
        entries[id]?.failures = 0
        guard let operation = entries[id]?.operation else { return [] }
        return [.store(.edited(operation)), .release(old)]
    }

    /// Moves an operation before another one in its lane, or to the end. Neither operation may be in an attempt or wait
    /// for the resolver.
    package mutating func move(_ id: UInt64, before other: UInt64?) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = entries[id], entry.phase != .storing else { throw .unknown }
        guard entry.phase != .sending, entry.phase != .asking else { throw .busy }
        guard id != other else { return [] }
        if let other {
            guard let target = entries[other] else { throw .unknown }
            guard target.operation.lane == entry.operation.lane else { throw .otherLane }
            guard target.phase != .sending, target.phase != .asking else { throw .busy }
        }
        place(id, before: other)
        return [.store(.moved(id, before: other ?? 0))]
    }

    mutating func place(_ id: UInt64, before other: UInt64?) {
        guard let lane = entries[id]?.operation.lane, var order = lanes[lane] else { return }
        order.removeAll { $0 == id }
        order.insert(id, at: other.flatMap { order.firstIndex(of: $0) } ?? order.count)
        lanes[lane] = order
    }

    /// Continues a lane that has stopped at an operation. The operation is sent again with the same key.
    package mutating func resume(_ id: UInt64) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = entries[id] else { throw .unknown }
        guard case .stopped = entry.phase else { throw .busy }
        entries[id]?.phase = .waiting
        entries[id]?.operation.progress.stop = nil
        return [.store(.resumed(id))]
    }

    /// Removes a report that the program has acknowledged.
    package mutating func acknowledge(_ id: UInt64) -> [ReplayEffect] {
        guard kept.contains(where: { $0.id == id }) else { return [] }
        kept.removeAll { $0.id == id }
        return [.store(.acknowledged(id))]
    }
}
