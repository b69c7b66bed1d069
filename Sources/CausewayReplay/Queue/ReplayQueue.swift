/// Decides which operations of an offline queue are sent, when, and what follows from the end of each attempt.
///
/// The queue performs no I/O and reads no clock. Its owner reports events with their times, and performs the effects in their order. An operation has a place in one
/// lane. The operations of a lane are sent one after the other, each after the end of the one before it. Lanes are independent of each other.
package struct ReplayQueue: Sendable {
    /// The state of an operation in this process.
    package enum Phase: Equatable, Sendable {
        /// Its first record is not stored yet.
        case storing
        case waiting
        case sending
        /// The resolver decides.
        case asking
        case stopped(OfflineStop)
    }

    struct Entry: Sendable {
        var operation: StoredOperation
        var phase = Phase.waiting
        /// Whether this process has tried to send it.
        var wasTried = false
        /// The end of the wait after a failure.
        var notBefore: Duration?
        var failures = 0
    }

    package let policy: OfflinePolicy
    let limits: OfflineLimits
    var entries: [UInt64: Entry] = [:]
    /// The operations of each lane, in order. No list is empty.
    var lanes: [String: [UInt64]] = [:]
    var active: Set<UInt64> = []
    var way = WayBack()
    var kept: [StoredReport] = []
    private(set) var lastID: UInt64 = 0
    var storedByteCount: Int64 = 0
    /// No operation becomes too old before this date.
    var nextExpiry = Int64.max

    package init(policy: OfflinePolicy = OfflinePolicy(), limits: OfflineLimits = OfflineLimits()) {
        self.policy = policy
        self.limits = limits
    }

    // MARK: Reading

    /// The number of operations.
    package var count: Int { entries.count }

    /// The reports that wait for the program, the oldest first.
    package var reports: [StoredReport] { kept }

    /// Whether the last attempt found a way to the server.
    package var hasWay: Bool { way.isOpen }

    /// The operations with their states: the lanes by their names, each in its order.
    package var operations: [(operation: StoredOperation, phase: Phase)] {
        lanes.keys.sorted().flatMap { lanes[$0] ?? [] }.compactMap { id in
            entries[id].map { ($0.operation, $0.phase) }
        }
    }

    /// Returns an operation.
    package func operation(_ id: UInt64) -> StoredOperation? { entries[id]?.operation }

    /// Returns the state of an operation.
    package func phase(_ id: UInt64) -> Phase? { entries[id]?.phase }

    /// The records from which the present state is read again.
    package var snapshot: [JournalRecord] {
        var records = [JournalRecord.header(lastID: lastID)]
        records += kept.map { .ended($0, isKept: true) }
        for id in lanes.keys.sorted().flatMap({ lanes[$0] ?? [] }) {
            if let entry = entries[id] { records.append(.enqueued(entry.operation)) }
        }
        return records
    }

    // MARK: Joining

    /// Adds an operation. It is sent after ``stored(_:)``.
    ///
    /// - Parameter make: Makes the operation from its identifier.
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

    /// The first record of an operation is stored.
    package mutating func stored(_ id: UInt64) {
        if entries[id]?.phase == .storing { entries[id]?.phase = .waiting }
    }

    /// The first record of an operation could not be stored: the operation does not exist.
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

    /// Returns the date at which an operation becomes too old.
    static func expiry(of operation: StoredOperation) -> Int64? {
        let age = operation.rules.maximumAge
        guard age > 0 else { return nil }
        let (date, isBeyond) = operation.created.addingReportingOverflow(age)
        return isBeyond ? nil : date
    }
}
