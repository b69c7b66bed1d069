extension ReplayQueue {
    /// Restores the state from journal records, and decides about operations whose attempt was interrupted by a kill.
    ///
    /// - Parameters:
    ///   - records: The journal's records, in order.
    ///   - doubtful: The number of records before the last damage in the journal. Their operations may have been sent,
    ///     because the record of the attempt may be lost.
    ///   - now: The current time.
    /// - Returns: The resulting effects.
    package mutating func recover(
        _ records: [JournalRecord], doubtful: Int = 0, at now: ReplayTime
    ) -> [ReplayEffect] {
        noteDate(of: now)
        for (index, record) in records.enumerated() {
            if index == doubtful, doubtful > 0 { doubtAll() }
            apply(record)
        }
        if doubtful > 0, doubtful >= records.count { doubtAll() }
        var effects: [ReplayEffect] = []
        for id in entries.keys.sorted() where entries[id]?.operation.progress.isBegun == true {
            effects += resolveAfterKill(id, at: now)
        }
        for id in entries.keys {
            guard let stop = entries[id]?.operation.progress.stop else { continue }
            entries[id]?.phase = .stopped(stop)
        }
        return effects
    }

    /// Treats every operation restored so far as if its attempt had not ended.
    private mutating func doubtAll() {
        for id in entries.keys { entries[id]?.operation.progress.isBegun = true }
    }

    /// Applies ``OfflinePolicy/unknownFate``. The interrupted attempt counts.
    private mutating func resolveAfterKill(_ id: UInt64, at now: ReplayTime) -> [ReplayEffect] {
        entries[id]?.operation.progress.count()
        guard let operation = entries[id]?.operation else { return [] }
        switch policy.unknownFate {
        case .replayIfIdempotent where !isReplayable(operation), .report: return finish(id, .unknown, at: now.date)
        case .stop: return stop(id, .unknownFate)
        case .replay, .replayIfIdempotent:
            guard operation.progress.attempts < operation.rules.maximumAttempts else {
                return finish(id, .expired(.attempts), at: now.date)
            }
            entries[id]?.operation.progress.isBegun = false
            return [.store(.returned(id, counts: true))]
        }
    }

    /// Applies a record. A record for an unknown operation has no effect.
    private mutating func apply(_ record: JournalRecord) {
        switch record {
        case .header(let last): noteID(last)
        case .enqueued(let operation): if entries[operation.id] == nil { insert(operation, .waiting) }
        case .edited(let operation):
            guard let old = entries[operation.id]?.operation, old.lane == operation.lane else { return }
            storedByteCount += operation.message.body.storedByteCount - old.message.body.storedByteCount
            entries[operation.id]?.operation = operation
        case .began(let id): entries[id]?.operation.progress.isBegun = true
        case .returned(let id, let counts):
            entries[id]?.operation.progress.isBegun = false
            if counts { entries[id]?.operation.progress.count() }
        case .ended(let report, let isKept):
            noteID(report.id)
            remove(report.id)
            if isKept { keep(report) }
        case .acknowledged(let id): kept.removeAll { $0.id == id }
        case .moved(let id, let other): place(id, before: other == 0 ? nil : other)
        case .stopped(let id, let reason):
            if entries[id]?.operation.progress.isBegun == true { entries[id]?.operation.progress.count() }
            entries[id]?.operation.progress.isBegun = false
            entries[id]?.operation.progress.stop = reason
        case .resumed(let id): entries[id]?.operation.progress.stop = nil
        }
    }
}
