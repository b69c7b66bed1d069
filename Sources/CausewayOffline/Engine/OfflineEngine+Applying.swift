internal import CausewaySystem
internal import Dispatch

extension OfflineEngine {
    /// Work to do after a change to the queue.
    struct Applied: Sendable {
        /// The sequence number of the last journal record that this change created; 0 if it created no record.
        var number: JournalWriter.Number = 0
        var begins: [UInt64] = []
        var asks: [(id: UInt64, status: Int)] = []
        var interrupts: [Signal] = []
        var finished: [StoredReport] = []
        var released: [StoredMessage.Body] = []
        var events: [OfflineEvent] = []
    }

    /// Maximum number of operation results that are kept for ``result(of:)``.
    private static let resultLimit = 256

    /// Changes the queue, and submits the resulting journal records under the same lock. So the journal has the same
    /// order as the changes.
    func apply<Failure: Error>(
        _ change: (inout ReplayQueue, ReplayTime) throws(Failure) -> [ReplayEffect]
    ) throws(Failure) -> Applied {
        let now = clocks.now
        let applied = try state.withLock { state throws(Failure) in
            let effects = try change(&state.queue, now)
            var applied = Applied()
            for effect in effects { note(effect, &state, &applied) }
            return applied
        }
        for interrupt in applied.interrupts { interrupt.raise() }
        for event in applied.events { broadcast.send { event } }
        if applied.number > 0 { changes.changed { operations } }
        return applied
    }

    private func note(_ effect: ReplayEffect, _ state: inout State, _ applied: inout Applied) {
        switch effect {
        case .store(let record):
            var operation: UInt64?
            if case .enqueued(let new) = record { operation = new.id }
            // `frame` returns `nil` for a record that is too long. This cannot happen here, because the queue refuses
            // operations with such records.
            guard let frame = Journal.frame(record) else { return }
            applied.number = writer.submit(frame, givingUp: operation)
            if let event = event(of: record, state) { applied.events.append(event) }
        case .begin(let id): applied.begins.append(id)
        case .interrupt(let id): if let signal = state.interrupts[id] { applied.interrupts.append(signal) }
        case .ask(let id, let status): applied.asks.append((id, status))
        case .finish(let report):
            applied.finished.append(report)
            state.settling.insert(report.id)
        case .release(let body): applied.released.append(body)
        }
    }

    private func event(of record: JournalRecord, _ state: State) -> OfflineEvent? {
        func event(_ id: UInt64, _ kind: OfflineEvent.Kind) -> OfflineEvent {
            OfflineEvent(id: OfflineOperation.ID(id), kind: kind)
        }
        switch record {
        case .began(let id):
            return event(id, .sending(attempt: Int(state.queue.operation(id)?.progress.attempts ?? 0) + 1))
        case .returned(let id, _): return event(id, .waiting)
        case .edited(let operation): return event(operation.id, .edited)
        case .moved(let id, _), .resumed(let id): return event(id, .moved)
        case .stopped(let id, let reason): return event(id, .stopped(reason))
        // Queued and ended operations have no event here. Their events are sent later, after their records are stored.
        // The records `header` and `acknowledged` have no event at all.
        case .header, .enqueued, .ended, .acknowledged: return nil
        }
    }

    /// Waits until a change is stored. Then removes content files that are no longer needed, and reports ended
    /// operations.
    ///
    /// Cancellation: has no effect.
    func settle(_ applied: Applied) async throws(OfflineError) {
        if applied.number > 0 {
            do throws(SystemError) {
                try await writer.wait(for: applied.number)
            } catch {
                throw Self.storageError(error)
            }
        }
        for case .file(let name, _) in applied.released {
            // Ignore errors: the next start removes content files that are left over.
            _ = try? await writer.perform { (medium) throws(SystemError) in medium.remove(name) }
        }
        for report in applied.finished { deliver(report) }
    }

    static func storageError(_ error: SystemError) -> OfflineError {
        OfflineError(
            .storage, "\(JournalDirectory.text(error)): free space or repair the directory; it is tried again")
    }

    /// Reports the result of an operation that has ended. The callers of ``result(of:)`` and the event streams get the
    /// report.
    private func deliver(_ report: StoredReport) {
        let (result, waiters) = state.withLock { state in
            let last = state.responses.removeValue(forKey: report.id)
            let result = OfflineResult(
                outcome: report.outcome, response: last?.response, content: last?.content ?? .init())
            state.progress[report.id] = nil
            state.settling.remove(report.id)
            state.results[report.id] = result
            state.resultOrder.append(report.id)
            if state.resultOrder.count > Self.resultLimit {
                state.results[state.resultOrder.removeFirst()] = nil
            }
            return (result, state.waiters.removeValue(forKey: report.id) ?? [:])
        }
        for waiter in waiters.values { waiter.resume(returning: result) }
        broadcast.send { OfflineEvent(id: OfflineOperation.ID(report.id), kind: .ended(report.outcome)) }
        changes.changed { operations }
    }

    /// Returns records for the whole state, and the number of the latest submitted record. The state includes the
    /// changes of all records up to this number.
    func snapshot() -> (frames: [[UInt8]], last: JournalWriter.Number) {
        let (records, last) = state.withLock { ($0.queue.snapshot, writer.last) }
        return (records.compactMap { Journal.frame($0) }, last)
    }

    /// Performs blocking work on a global dispatch queue.
    static func blocking<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { done in
            DispatchQueue.global(qos: .utility).async {
                let result = Result { () throws(Failure) in try body() }
                done.resume(returning: result)
            }
        }
    }
}
