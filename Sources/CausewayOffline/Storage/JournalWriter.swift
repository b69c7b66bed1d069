internal import CausewaySystem
internal import Dispatch

/// Appends records to the journal, on its own dispatch queue, in submission order.
///
/// Pending records are written and synchronized together (group commit). If a record cannot be written, it stays
/// pending and is written before all later records. The first record of a new operation is an exception: it is dropped
/// together with the operation, and the caller that submitted it gets the error.
final class JournalWriter: Sendable {
    /// A record number, from 1 in submission order.
    typealias Number = UInt64
    /// Returns the records that describe the whole state, and the number of the latest submitted record. The returned
    /// records include the changes of all records up to this number. Returns `nil` after the engine was released.
    typealias Snapshot = @Sendable () -> (frames: [[UInt8]], last: Number)?

    private struct Entry: Sendable {
        var number: Number
        var frame: [UInt8]
        /// The new operation that this record adds. If the record cannot be written now, the record and the operation
        /// are dropped. `nil` for other records: they stay pending until they are written.
        var operation: UInt64?

        var isOptional: Bool { operation != nil }
    }

    private struct Waiter: Sendable {
        var number: Number
        /// Whether the waiting caller submitted the record itself. Such a caller must get the error if the record is
        /// dropped.
        var isSubmitter: Bool
        var continuation: CheckedContinuation<SystemError?, Never>
    }

    private struct State {
        var pending: [Entry] = []
        var last: Number = 0
        var written: Number = 0
        var failure: SystemError?
        /// The errors of records that could not be written and were dropped, by record number. An entry is kept until
        /// the code that submitted the record calls ``wait(for:)``.
        var givenUp: [Number: SystemError] = [:]
        var isDraining = false
        var waiters: [Waiter] = []
    }

    /// State that only the dispatch queue uses.
    private struct Upkeep {
        /// The journal size in bytes above which it is compacted.
        var compactionByteCount: Int
        /// Whether a write failed, so that the bytes at the journal's end are unknown. The whole journal must then be
        /// replaced before more records are written.
        var mustCompact = false
    }

    private let medium: any JournalMedium
    private let queue = DispatchQueue(label: "causeway.offline.journal", target: .global(qos: .utility))
    private let state = LockedValue(State())
    private let upkeep: LockedValue<Upkeep>
    private let slack: Int
    private let snapshot = LockedValue<Snapshot?>(nil)
    private let giveUp = LockedValue<(@Sendable ([UInt64]) -> Void)?>(nil)

    /// - Parameters:
    ///   - medium: The storage.
    ///   - slack: The number of bytes that the journal may grow beyond twice its compacted size. Then it is compacted
    ///     again.
    init(_ medium: any JournalMedium, slack: Int) {
        self.medium = medium
        self.slack = slack
        upkeep = LockedValue(Upkeep(compactionByteCount: 2 * medium.byteCount + slack))
    }

    /// Sets two closures. The first returns records for the whole state. The second removes new operations whose first
    /// record could not be written. Call this once, before the first record.
    ///
    /// The second closure is called on the dispatch queue. Journals are compacted on the same queue, so a compacted
    /// journal never includes an operation that was dropped.
    func connect(_ body: @escaping Snapshot, givingUp: @escaping @Sendable ([UInt64]) -> Void) {
        snapshot.withLock { $0 = body }
        giveUp.withLock { $0 = givingUp }
    }

    /// The error of the latest write. `nil` if the latest write succeeded.
    var failure: SystemError? { state.withLock { $0.failure } }

    /// The number of the latest submitted record.
    var last: Number { state.withLock { $0.last } }

    /// Adds a record to the pending records, and starts a write if no write is in progress. Does not block.
    ///
    /// The engine calls this method under its own lock, so that records have the order of their changes.
    func submit(_ frame: [UInt8], givingUp operation: UInt64?) -> Number {
        let (number, mustStart) = state.withLock { state in
            state.last += 1
            state.pending.append(Entry(number: state.last, frame: frame, operation: operation))
            return (state.last, Self.claim(&state))
        }
        if mustStart { queue.async { self.drain() } }
        return number
    }

    private static func claim(_ state: inout State) -> Bool {
        guard !state.isDraining else { return false }
        state.isDraining = true
        return true
    }

    /// Suspends until a submitted record is written durably. If an earlier write of the record failed, the record is
    /// written again.
    ///
    /// If the write of a new operation's first record fails, the record is dropped. The error is then thrown only once.
    /// So only the caller that submitted such a record may wait for it.
    ///
    /// Cancellation: has no effect; writing takes a bounded time.
    func wait(for number: Number) async throws(SystemError) {
        try await wait { state in
            if let failure = state.givenUp.removeValue(forKey: number) { return .done(failure) }
            return state.written >= number ? .done(nil) : .waits(for: number, isSubmitter: true)
        }
    }

    /// Writes the pending records again. Suspends until they are written durably, or the write fails. Returns at once
    /// if no record is pending. A caller then learns only from its next record whether the storage works again.
    ///
    /// Cancellation: has no effect; writing takes a bounded time.
    func retry() async throws(SystemError) {
        try await wait { state in
            guard let last = state.pending.last else { return .done(nil) }
            return .waits(for: last.number, isSubmitter: false)
        }
    }

    private enum Waiting {
        case done(SystemError?)
        case waits(for: Number, isSubmitter: Bool)
    }

    private func wait(_ look: (inout State) -> Waiting) async throws(SystemError) {
        let failure = await withCheckedContinuation { (continuation: CheckedContinuation<SystemError?, Never>) in
            let (result, mustStart) = state.withLock { state -> (SystemError??, Bool) in
                switch look(&state) {
                case .done(let failure): return (.some(failure), false)
                case .waits(let number, let isSubmitter):
                    state.waiters.append(
                        Waiter(number: number, isSubmitter: isSubmitter, continuation: continuation))
                    return (nil, Self.claim(&state))
                }
            }
            if let result { continuation.resume(returning: result) }
            if mustStart { queue.async { self.drain() } }
        }
        if let failure { throw failure }
    }

    /// Runs `body`, which does blocking work with the storage medium, on the dispatch queue.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (any JournalMedium) throws(SystemError) -> Value
    ) async throws(SystemError) -> Value {
        let medium = medium
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, SystemError>, Never>) in
            queue.async {
                let result = Result { () throws(SystemError) in try body(medium) }
                done.resume(returning: result)
            }
        }
        return try result.get()
    }

    // MARK: Writing

    private func drain() {
        while true {
            let batch = state.withLock { $0.pending }
            if batch.isEmpty {
                // No more records are pending, so resume the callers that still wait. Nothing is written here, so
                // ``failure`` keeps its value.
                if finish(upTo: nil) { return }
                continue
            }
            do throws(SystemError) {
                if try compactIfNeeded() { continue }
                try write(batch)
                finish(upTo: batch[batch.count - 1].number)
            } catch {
                fail(error)
                return
            }
        }
    }

    private func write(_ batch: [Entry]) throws(SystemError) {
        let start = medium.byteCount
        do throws(SystemError) {
            // Join the batch's records, and write them at once. The records are small, so copying them costs less than
            // separate writes.
            try medium.append(batch.flatMap(\.frame))
            try medium.synchronize()
        } catch {
            // Cut a partial write off. Otherwise the next start could read a record that was reported as failed.
            do throws(SystemError) { try medium.truncate(to: start) } catch {
                upkeep.withLock { $0.mustCompact = true }
            }
            if error.call == "fdatasync" { upkeep.withLock { $0.mustCompact = true } }
            throw error
        }
    }

    /// Marks records as written, and resumes the callers that wait for these records. Returns `true` if no record is
    /// pending and nothing was written: ``drain()`` must then return, because the next record starts another one.
    ///
    /// - Parameter number: The highest record number in a successful write; `nil` if nothing was written.
    @discardableResult
    private func finish(upTo number: Number?) -> Bool {
        let (ready, isIdle) = state.withLock { state in
            if let number {
                state.pending.removeAll { $0.number <= number }
                state.failure = nil
            }
            state.written = (state.pending.first?.number ?? state.last + 1) - 1
            let written = state.written
            let ready = state.waiters.filter { $0.number <= written }
            state.waiters.removeAll { $0.number <= written }
            // After a write, `drain()` looks for more records. Another one must not be queued meanwhile: it would write
            // a failed record again, and its error could reach a caller that waits only since then.
            let isIdle = number == nil && state.pending.isEmpty
            if isIdle { state.isDraining = false }
            return (ready, isIdle)
        }
        for waiter in ready { waiter.continuation.resume(returning: nil) }
        return isIdle
    }

    /// Handles a failed write. Drops the pending records that add new operations, and these operations. The other
    /// records stay pending. Resumes all waiters with the error.
    private func fail(_ error: SystemError) {
        let (waiters, operations) = state.withLock { state in
            let operations = state.pending.compactMap(\.operation)
            let waiting = Set(state.waiters.lazy.filter(\.isSubmitter).map(\.number))
            for entry in state.pending where entry.isOptional && !waiting.contains(entry.number) {
                state.givenUp[entry.number] = error
            }
            state.pending.removeAll { $0.isOptional }
            state.failure = error
            state.isDraining = false
            defer { state.waiters = [] }
            return (state.waiters, operations)
        }
        giveUp.withLock { $0 }?(operations)
        for waiter in waiters { waiter.continuation.resume(returning: error) }
    }

    /// Compacts the journal in two cases: it is too long, or a failed write has left unknown content at its end.
    /// Returns whether the journal was compacted.
    private func compactIfNeeded() throws(SystemError) -> Bool {
        let size = medium.byteCount
        let (isNeeded, isUnavoidable) = upkeep.withLock {
            ($0.mustCompact || size > $0.compactionByteCount, $0.mustCompact)
        }
        guard isNeeded, let snapshot = snapshot.withLock({ $0 }) else { return false }
        // `nil` means that the engine was released. There is then no state to write, so the journal is not compacted.
        guard let (frames, last) = snapshot() else { return false }
        let failure: SystemError?
        do throws(SystemError) {
            failure = try medium.replace(with: frames)
        } catch {
            if isUnavoidable { throw error }
            // The replacement failed, but the old journal is intact. So continue with the old journal, and compact it
            // later.
            upkeep.withLock { $0.compactionByteCount = max($0.compactionByteCount, size + slack) }
            return false
        }
        if let failure {
            // The new journal already contains the pending records. It must not get them a second time.
            upkeep.withLock { $0.mustCompact = true }
            throw failure
        }
        upkeep.withLock { $0 = Upkeep(compactionByteCount: 2 * medium.byteCount + slack) }
        finish(upTo: last)
        return true
    }
}
