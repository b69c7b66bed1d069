internal import CausewayTypes

/// Decides which operations of an offline queue are sent, when they are sent, and what happens after each attempt.
///
/// The queue performs no I/O and reads no clock. Its owner reports events with their times, and performs the returned
/// effects in order. After that, and also at ``deadline``, the owner calls ``advance(to:)``.
///
/// Each operation belongs to one lane. The operations of a lane are sent in order: each one waits until the previous
/// one has ended. Different lanes do not wait for each other.
package struct ReplayQueue: Sendable {
    /// An operation's state in this process.
    package enum Phase: Equatable, Sendable {
        /// The operation's `enqueued` record is not written to the journal yet.
        case storing
        case waiting
        case sending
        /// The server refused the operation, and the program's callback for refused operations must decide.
        case asking
        case stopped(OfflineStop)
    }

    package let policy: OfflinePolicy
    private let limits: OfflineLimits
    private var table: OperationTable
    private var backoff = SharedBackoff()
    /// The difference between the date (time since 1970) and the uptime; `nil` until a date was recorded.
    private var dateOffset: Duration?

    package init(policy: OfflinePolicy = OfflinePolicy(), limits: OfflineLimits = OfflineLimits()) {
        self.policy = policy
        self.limits = limits
        table = OperationTable(reportLimit: limits.reports)
    }

    // MARK: Reading

    /// The number of operations.
    package var count: Int { table.count }

    /// The reports about ended operations, oldest first, until the program acknowledges them.
    package var reports: [StoredReport] { table.reports }

    /// Whether the server seems to be reachable. The value becomes `false` after an attempt that did not reach the
    /// server, and `true` after an attempt that reached it.
    package var hasWay: Bool { !backoff.isActive }

    /// All operations with their states, sorted by the name of their lane. Within a lane, they are in the order in
    /// which they are sent.
    package var operations: [(operation: StoredOperation, phase: Phase)] {
        table.operations.map { ($0.operation, $0.phase) }
    }

    /// Returns the operation with this identifier; `nil` if it is not in the queue.
    package func operation(_ id: UInt64) -> StoredOperation? { table[id]?.operation }

    /// Returns the state of the operation with this identifier; `nil` if it is not in the queue.
    package func phase(_ id: UInt64) -> Phase? { table[id]?.phase }

    /// The journal records that restore the current state. When the journal is compacted, they replace its content.
    package var snapshot: [JournalRecord] { table.snapshot }

    // MARK: Joining

    /// Adds an operation to the queue. It is not sent before ``stored(_:)`` reports that its record is in the journal.
    ///
    /// - Parameter make: Creates the operation with its ID.
    package mutating func enqueue(
        _ make: (UInt64) -> StoredOperation
    ) throws(ReplayRefusal) -> (id: UInt64, effects: [ReplayEffect]) {
        let id = table.lastID + 1
        let operation = make(id)
        guard table.count < limits.operations else { throw .full("\(limits.operations) operations wait") }
        let size = operation.message.body.storedByteCount
        guard size + table.storedByteCount <= Int64(limits.totalByteCount) else {
            throw .full("the contents of the queue have \(limits.totalByteCount) bytes")
        }
        table.noteID(id)
        table.insert(operation, .storing)
        return (operation.id, [.store(.enqueued(operation))])
    }

    /// Reports that an operation's `enqueued` record is stored.
    package mutating func stored(_ id: UInt64) { table.stored(id) }

    /// Reports that an operation's `enqueued` record could not be stored, and removes the operation.
    package mutating func notStored(_ id: UInt64) {
        if table[id]?.phase == .storing { table.remove(id) }
    }

    // MARK: Changes by the program

    /// Applies the program's decision about an operation that the server has refused.
    ///
    /// If a new request would exceed the queue's size limit, sending stops at the operation. If a new request is not
    /// used, its content is released.
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
        guard let entry = table[id], entry.phase == .asking else {
            if case .rewrite(let new) = decision { return [.release(new.message.body)] }
            return []
        }
        table.released(id)
        switch decision {
        case .drop:
            let isConflict = status == 409 || status == 412
            return finish(id, isConflict ? .conflicted(status: status) : .rejected(status: status), at: now.date)
        case .stop: return stop(id, .refused(status: status))
        case .retry:
            // Remove the journal record `returned` from the effects. It was already stored when the program's callback
            // was called.
            let effects = wait(id, counts: true, at: now, jitter: jitter)
            return effects.filter { $0 != .store(.returned(id, counts: true)) }
        case .rewrite(let new):
            guard hasRoom(for: new.message, inPlaceOf: entry) else {
                return stop(id, .refused(status: status)) + [.release(new.message.body)]
            }
            return replace(id, new.message, key: new.key)
        }
    }

    /// Cancels an operation, and interrupts a running attempt.
    package mutating func cancel(_ id: UInt64, at date: Int64) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = table[id], entry.phase != .storing else { throw .unknown }
        let isSending = entry.phase == .sending
        if isSending {
            backoff.abandoned(id)
            table.counted(id)
        }
        let mayHaveBeenSent = isSending || entry.operation.progress.attempts > 0
        return (isSending ? [.interrupt(id)] : [])
            + finish(id, .cancelled(mayHaveBeenSent: mayHaveBeenSent), at: date)
    }

    /// Replaces an operation's request. For the server, the operation is then new: it has a new `Idempotency-Key` and
    /// no attempts. If sending had stopped at the operation, it continues.
    package mutating func edit(
        _ id: UInt64, _ message: StoredMessage, key: String
    ) throws(ReplayRefusal) -> [ReplayEffect] {
        let entry = try table.idle(id)
        guard hasRoom(for: message, inPlaceOf: entry) else {
            throw .full("the contents of the queue have \(limits.totalByteCount) bytes")
        }
        return replace(id, message, key: key)
    }

    /// Whether the stored contents stay within ``OfflineLimits/totalByteCount`` with the new request. Also `true` if
    /// the new content does not increase the total size. The total size may already exceed the limit, if the limit was
    /// higher when the program ran before.
    private func hasRoom(for message: StoredMessage, inPlaceOf entry: OperationTable.Entry) -> Bool {
        let growth = message.body.storedByteCount - entry.operation.message.body.storedByteCount
        return growth <= 0 || table.storedByteCount + growth <= Int64(limits.totalByteCount)
    }

    private mutating func replace(_ id: UInt64, _ message: StoredMessage, key: String) -> [ReplayEffect] {
        guard let (operation, old) = table.replace(id, message, key: key) else { return [] }
        return [.store(.edited(operation)), .release(old)]
    }

    /// Moves an operation within its lane, which is a list of operations that are sent one after another. The operation
    /// then comes directly before `other`, or at the end if `other` is `nil`. Neither operation may be in the process
    /// of being sent, or wait for the program's callback for refused operations.
    package mutating func move(_ id: UInt64, before other: UInt64?) throws(ReplayRefusal) -> [ReplayEffect] {
        guard try table.move(id, before: other) else { return [] }
        return [.store(.moved(id, before: other ?? 0))]
    }

    /// Continues sending at an operation at which it has stopped. The operation is sent again with the same
    /// `Idempotency-Key`.
    package mutating func resume(_ id: UInt64) throws(ReplayRefusal) -> [ReplayEffect] {
        guard let entry = table[id] else { throw .unknown }
        guard case .stopped = entry.phase else { throw .busy }
        table.resumed(id)
        return [.store(.resumed(id))]
    }

    /// Removes a report that the program has acknowledged.
    package mutating func acknowledge(_ id: UInt64) -> [ReplayEffect] {
        table.acknowledge(id) ? [.store(.acknowledged(id))] : []
    }

    // MARK: Recovery

    /// Restores the state from journal records. Decides about operations whose attempt was interrupted when the program
    /// was killed.
    ///
    /// - Parameters:
    ///   - records: The journal's records, in order.
    ///   - doubtful: The number of records before the last damage in the journal. The operations in these records may
    ///     have been sent, because the damage may have destroyed the record of an attempt.
    ///   - now: The current time.
    /// - Returns: The resulting effects.
    package mutating func recover(
        _ records: [JournalRecord], doubtful: Int = 0, at now: ReplayTime
    ) -> [ReplayEffect] {
        noteDate(of: now)
        for (index, record) in records.enumerated() {
            if index == doubtful, doubtful > 0 { table.doubtAll() }
            table.apply(record)
        }
        if doubtful > 0, doubtful >= records.count { table.doubtAll() }
        var effects: [ReplayEffect] = []
        for id in table.interrupted { effects += resolveAfterKill(id, at: now) }
        table.recovered()
        return effects
    }

    /// Applies the policy ``OfflinePolicy/unknownFate`` to an operation whose attempt was interrupted.
    ///
    /// The interrupted attempt counts as one of the permitted attempts.
    private mutating func resolveAfterKill(_ id: UInt64, at now: ReplayTime) -> [ReplayEffect] {
        table.counted(id)
        guard let operation = table[id]?.operation else { return [] }
        switch policy.unknownFate {
        case .replayIfIdempotent where !policy.isReplayable(operation), .report:
            return finish(id, .unknown, at: now.date)
        case .stop: return stop(id, .unknownFate)
        case .replay, .replayIfIdempotent:
            guard operation.progress.attempts < operation.rules.maximumAttempts else {
                return finish(id, .expired(.attempts), at: now.date)
            }
            // This method has already counted the attempt. So pass `false` for `counts`, because the table must not
            // count it again.
            table.apply(.returned(id, counts: false))
            return [.store(.returned(id, counts: true))]
        }
    }

    // MARK: Time

    /// Records the current date, and then does the work that is due.
    package mutating func advance(to now: ReplayTime) -> [ReplayEffect] {
        noteDate(of: now)
        return advance(to: now.uptime)
    }

    /// Ends operations that are too old, and begins operations that may be sent. The current date is computed from the
    /// last recorded date and the uptime.
    package mutating func advance(to now: Duration) -> [ReplayEffect] {
        var effects: [ReplayEffect] = []
        if let date = date(at: now) {
            for id in table.expired(at: date) { effects += finish(id, .expired(.age), at: date) }
        }
        // Begin with the oldest operation. Otherwise a lane (operations that are sent one after another) with much work
        // could delay the other lanes.
        for id in table.heads.sorted() where table.activeCount < max(limits.activeLanes, 1) {
            guard let entry = table[id], entry.phase == .waiting, permission(entry).isGranted(at: now) else {
                continue
            }
            backoff.began(id)
            table.began(id)
            effects += [.store(.began(id)), .begin(id)]
        }
        return effects
    }

    /// The uptime at which to call ``advance(to:)``; `nil` if only an event can begin or end an operation.
    package var deadline: Duration? {
        var deadline: Duration?
        func note(_ time: Duration) { deadline = min(deadline ?? time, time) }
        if let dateOffset, table.nextExpiry != .max { note(.milliseconds(table.nextExpiry) - dateOffset) }
        guard table.activeCount < max(limits.activeLanes, 1) else { return deadline }
        for id in table.heads {
            guard let entry = table[id], entry.phase == .waiting else { continue }
            if case .at(let time) = permission(entry) { note(time) }
        }
        return deadline
    }

    /// Returns when the operation may be sent.
    ///
    /// The operation must be the first in its lane. The operations in a lane are sent one after another.
    private func permission(_ entry: OperationTable.Entry) -> SharedBackoff.Permission {
        let shared = backoff.permission(wasTried: entry.wasTried)
        guard let own = entry.notBefore else { return shared }
        return switch shared {
        case .now: .at(own)
        case .at(let time): .at(max(time, own))
        case .afterProbe: .afterProbe
        }
    }

    private func date(at uptime: Duration) -> Int64? {
        guard let dateOffset else { return nil }
        let (seconds, attoseconds) = (uptime + dateOffset).components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }

    private mutating func noteDate(of now: ReplayTime) { dateOffset = .milliseconds(now.date) - now.uptime }

    // MARK: Attempts

    /// Reports a change of the network state.
    package mutating func networkChanged(isReachable: Bool, at now: ReplayTime) {
        backoff.networkChanged(isReachable: isReachable, at: now.uptime)
    }

    /// Reports that an attempt has ended.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - end: How the attempt ended.
    ///   - now: The current time.
    ///   - jitter: The random part of a wait, from 0 to 1.
    package mutating func attemptEnded(
        _ id: UInt64, _ end: AttemptEnd, at now: ReplayTime, jitter: Double
    ) -> [ReplayEffect] {
        guard let entry = table[id], entry.phase == .sending else { return [] }
        table.released(id)
        noteAttempt(id, end, now, jitter)
        switch policy.verdict(on: end, of: entry.operation) {
        case .finish(let outcome): return finish(id, outcome, at: now.date)
        case .stop(let reason): return stop(id, reason)
        case .ask(let status):
            table.asked(id)
            return [.store(.returned(id, counts: true)), .ask(id, status: status)]
        case .retry(let counts, let minimum):
            return wait(id, counts: counts, at: now, jitter: jitter, atLeast: minimum)
        case .returnToLane:
            table.returned(id)
            return [.store(.returned(id, counts: false))]
        }
    }

    /// Counts an ended attempt if it may have reached the server. Also updates the back-off, which all operations in
    /// the queue share.
    private mutating func noteAttempt(_ id: UInt64, _ end: AttemptEnd, _ now: ReplayTime, _ jitter: Double) {
        switch end {
        case .noWay: backoff.failed(id, at: now.uptime, policy.backoff, jitter: jitter)
        case .noWayAfterRefusal:
            backoff.failed(id, at: now.uptime, policy.backoff, jitter: jitter)
            table.counted(id)
        case .response:
            backoff.succeeded()
            table.counted(id)
        case .lost, .interrupted:
            backoff.abandoned(id)
            table.counted(id)
        case .invalid, .notSent: backoff.abandoned(id)
        }
    }

    /// Delays an operation's next attempt by a back-off. Ends the operation instead if it has reached its maximum
    /// number of attempts.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - counts: Whether the attempt may have reached the server. Such an attempt was already counted.
    ///   - now: The current time.
    ///   - jitter: The random part of the wait, from 0 to 1.
    ///   - minimum: The minimum wait from `Retry-After`; more than a day counts as a day.
    private mutating func wait(
        _ id: UInt64, counts: Bool, at now: ReplayTime, jitter: Double, atLeast minimum: Duration? = nil
    ) -> [ReplayEffect] {
        guard let operation = table[id]?.operation else { return [] }
        if counts, operation.progress.attempts >= operation.rules.maximumAttempts {
            return finish(id, .expired(.attempts), at: now.date)
        }
        table.failed(id, at: now.uptime, policy.backoff, jitter: jitter, atLeast: minimum)
        return [.store(.returned(id, counts: counts))]
    }

    /// Stops sending at an operation, which stays in its lane. A lane is a list of operations that are sent one after
    /// another, so the later operations in the lane must wait.
    private mutating func stop(_ id: UInt64, _ reason: OfflineStop) -> [ReplayEffect] {
        table.stopped(id, reason)
        return [.store(.stopped(id, reason))]
    }

    /// Ends an operation and keeps its report. The report of an operation that has succeeded is kept only if its rules
    /// contain ``StoredOperation/Rules/reportsSuccess``.
    private mutating func finish(_ id: UInt64, _ outcome: OfflineOutcome, at date: Int64) -> [ReplayEffect] {
        guard let operation = table[id]?.operation else { return [] }
        table.remove(id)
        let report = StoredReport(operation, outcome, at: date)
        let isKept = !outcome.isSuccess || operation.rules.reportsSuccess
        if isKept { table.keep(report) }
        return [.store(.ended(report, isKept: isKept)), .release(operation.message.body), .finish(report)]
    }
}

extension ReplayQueue: ReturningMachine {
    package typealias Action = ReplayEffect

    package var hasEnded: Bool { false }
}
