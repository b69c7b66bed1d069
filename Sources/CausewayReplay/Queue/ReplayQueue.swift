internal import CausewayMachines

/// Decides which operations in an offline queue are sent and when, and what happens after each attempt.
///
/// The queue performs no I/O and reads no clock. Its owner reports events with their times, performs the effects in
/// order, and then calls ``advance(to:)``, again at ``deadline``. Each operation belongs to one lane. A lane's
/// operations are sent in order, each after the previous one has ended. Lanes are independent of each other.
package struct ReplayQueue: Sendable {
    /// An operation's state in this process.
    package enum Phase: Equatable, Sendable {
        /// The `enqueued` record is not stored yet.
        case storing
        case waiting
        case sending
        /// Waits for the resolver's decision.
        case asking
        case stopped(OfflineStop)
    }

    struct Entry: Sendable {
        var operation: StoredOperation
        var phase = Phase.waiting
        /// Whether this process has tried to send the operation.
        var wasTried = false
        /// The earliest uptime for the next attempt, after a failure.
        var notBefore: Duration?
        /// Failures in a row, for the back-off.
        var failures = 0
    }

    package let policy: OfflinePolicy
    let limits: OfflineLimits
    var entries: [UInt64: Entry] = [:]
    /// Each lane's operations, in order. No list is empty.
    var lanes: [String: [UInt64]] = [:]
    /// Operations in an attempt or waiting for the resolver, at most ``OfflineLimits/activeLanes``.
    var active: Set<UInt64> = []
    var backoff = SharedBackoff()
    var kept: [StoredReport] = []
    private(set) var lastID: UInt64 = 0
    var storedByteCount: Int64 = 0
    /// No operation expires before this date.
    var nextExpiry = Int64.max
    /// The difference between the date (time since 1970) and the uptime; `nil` until a date was recorded.
    var dateOffset: Duration?

    package init(policy: OfflinePolicy = OfflinePolicy(), limits: OfflineLimits = OfflineLimits()) {
        self.policy = policy
        self.limits = limits
    }

    // MARK: Reading

    /// The number of operations.
    package var count: Int { entries.count }

    /// Reports that the program has not acknowledged, oldest first.
    package var reports: [StoredReport] { kept }

    /// `false` if the last attempt did not reach the server.
    package var hasWay: Bool { !backoff.isActive }

    /// All operations with their states: lanes sorted by name, each in its order.
    package var operations: [(operation: StoredOperation, phase: Phase)] {
        lanes.keys.sorted().flatMap { lanes[$0] ?? [] }.compactMap { id in
            entries[id].map { ($0.operation, $0.phase) }
        }
    }

    /// Returns an operation.
    package func operation(_ id: UInt64) -> StoredOperation? { entries[id]?.operation }

    /// Returns an operation's state.
    package func phase(_ id: UInt64) -> Phase? { entries[id]?.phase }

    /// Records that restore the current state. They replace the journal when it is compacted.
    package var snapshot: [JournalRecord] {
        var records = [JournalRecord.header(lastID: lastID)]
        records += kept.map { .ended($0, isKept: true) }
        for id in lanes.keys.sorted().flatMap({ lanes[$0] ?? [] }) {
            if let entry = entries[id] { records.append(.enqueued(entry.operation)) }
        }
        return records
    }

    // MARK: Joining

    /// Adds an operation. It may be sent after ``stored(_:)``.
    ///
    /// - Parameter make: Creates the operation with its ID.
    package mutating func enqueue(
        _ make: (UInt64) -> StoredOperation
    ) throws(ReplayRefusal) -> (id: UInt64, effects: [ReplayEffect]) {
        let operation = make(lastID + 1)
        guard entries.count < limits.operations else { throw .full("\(limits.operations) operations wait") }
        let size = operation.message.body.storedByteCount
        guard size + storedByteCount <= Int64(limits.totalByteCount) else {
            throw .full("the contents of the queue have \(limits.totalByteCount) bytes")
        }
        lastID += 1
        insert(operation, .storing)
        return (operation.id, [.store(.enqueued(operation))])
    }

    /// Reports that an operation's `enqueued` record is stored.
    package mutating func stored(_ id: UInt64) {
        if entries[id]?.phase == .storing { entries[id]?.phase = .waiting }
    }

    /// Reports that an operation's `enqueued` record could not be stored, and removes the operation.
    package mutating func notStored(_ id: UInt64) {
        if entries[id]?.phase == .storing { remove(id) }
    }

    mutating func insert(_ operation: StoredOperation, _ phase: Phase) {
        let id = operation.id
        lastID = max(lastID, id)
        entries[id] = Entry(operation: operation, phase: phase)
        lanes[operation.lane, default: []].append(id)
        storedByteCount += operation.message.body.storedByteCount
        if let date = Self.expiry(of: operation) { nextExpiry = min(nextExpiry, date) }
    }

    mutating func remove(_ id: UInt64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let lane = entry.operation.lane
        lanes[lane]?.removeAll { $0 == id }
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        storedByteCount -= entry.operation.message.body.storedByteCount
        active.remove(id)
    }

    mutating func noteID(_ id: UInt64) { lastID = max(lastID, id) }

    /// Returns the date at which an operation becomes too old; `nil` without a limit.
    static func expiry(of operation: StoredOperation) -> Int64? {
        let age = operation.rules.maximumAge
        guard age > 0 else { return nil }
        let (date, isBeyond) = operation.created.addingReportingOverflow(age)
        return isBeyond ? nil : date
    }
}

extension ReplayQueue: ReturningMachine {
    package typealias Action = ReplayEffect

    package var hasEnded: Bool { false }
}
