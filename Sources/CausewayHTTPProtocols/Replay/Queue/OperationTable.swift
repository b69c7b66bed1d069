/// An offline queue's operations, by identifier and by lane, and the reports about operations that have ended. A lane
/// is a list of operations that are sent one after another.
///
/// The journal restores this state: see ``apply(_:)`` and ``snapshot``.
struct OperationTable: Sendable {
    private var entries: [UInt64: Entry] = [:]
    /// The operations by lane (operations that are sent one after another). Each list is in sending order. No list is
    /// empty.
    private var lanes: [String: [UInt64]] = [:]
    /// The operations that are being sent, or that wait for the program's callback for refused operations.
    private var active: Set<UInt64> = []
    /// The reports about ended operations, oldest first, until the program acknowledges them.
    private(set) var reports: [StoredReport] = []
    private let reportLimit: Int
    private(set) var lastID: UInt64 = 0
    /// The total size in bytes of the contents that the queue stores for its operations.
    private(set) var storedByteCount: Int64 = 0
    /// The earliest date at which an operation can expire. Operations do not expire before this date.
    private(set) var nextExpiry = Int64.max

    /// - Parameter reportLimit: The maximum number of reports. A value below 1 is treated as 1.
    init(reportLimit: Int) { self.reportLimit = max(reportLimit, 1) }

    // MARK: Reading

    var count: Int { entries.count }
    var activeCount: Int { active.count }

    subscript(id: UInt64) -> Entry? { entries[id] }

    /// The first operation of each lane. The operations in a lane are sent one after another.
    var heads: [UInt64] { lanes.values.compactMap(\.first) }

    /// All operations, sorted by the name of their lane. Within a lane, they are in the order in which they are sent.
    var operations: [Entry] { lanes.keys.sorted().flatMap { lanes[$0] ?? [] }.compactMap { entries[$0] } }

    /// The journal records from which ``apply(_:)`` restores this state.
    var snapshot: [JournalRecord] {
        var records = [JournalRecord.header(lastID: lastID)]
        records += reports.map { .ended($0, isKept: true) }
        records += operations.map { .enqueued($0.operation) }
        return records
    }

    // MARK: Operations

    mutating func insert(_ operation: StoredOperation, _ phase: ReplayQueue.Phase) {
        let (id, entry) = (operation.id, Entry(operation, phase))
        noteID(id)
        entries[id] = entry
        lanes[operation.lane, default: []].append(id)
        storedByteCount += operation.message.body.storedByteCount
        if let date = entry.expiry { nextExpiry = min(nextExpiry, date) }
    }

    mutating func noteID(_ id: UInt64) { lastID = max(lastID, id) }

    mutating func remove(_ id: UInt64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let lane = entry.operation.lane
        lanes[lane]?.removeAll { $0 == id }
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        storedByteCount -= entry.operation.message.body.storedByteCount
        active.remove(id)
    }

    /// Moves an operation within its lane, which is a list of operations that are sent one after another. The new place
    /// is before `other`, or at the end of the lane if `other` is `nil`. Returns `false` if `id` and `other` are the
    /// same operation.
    ///
    /// An operation that is being sent cannot be moved. The same is true for an operation that waits for the program's
    /// callback for refused operations. `other` must not be such an operation either.
    mutating func move(_ id: UInt64, before other: UInt64?) throws(ReplayRefusal) -> Bool {
        let entry = try idle(id)
        guard id != other else { return false }
        if let other {
            guard let target = entries[other] else { throw .unknown }
            guard target.operation.lane == entry.operation.lane else { throw .otherLane }
            guard target.phase != .sending, target.phase != .asking else { throw .busy }
        }
        place(id, before: other)
        return true
    }

    /// Returns an operation if it is idle.
    ///
    /// An operation is idle if it is not being stored or sent, and if the program is not being asked about its refusal.
    func idle(_ id: UInt64) throws(ReplayRefusal) -> Entry {
        guard let entry = entries[id], entry.phase != .storing else { throw .unknown }
        guard entry.phase != .sending, entry.phase != .asking else { throw .busy }
        return entry
    }

    private mutating func place(_ id: UInt64, before other: UInt64?) {
        guard let lane = entries[id]?.operation.lane, var order = lanes[lane] else { return }
        order.removeAll { $0 == id }
        order.insert(id, at: other.flatMap { order.firstIndex(of: $0) } ?? order.count)
        lanes[lane] = order
    }

    /// Replaces an operation's request. Returns the operation and the previous request content.
    mutating func replace(
        _ id: UInt64, _ message: StoredMessage, key: String
    ) -> (operation: StoredOperation, old: StoredMessage.Body)? {
        guard let old = entries[id]?.operation.message.body else { return nil }
        storedByteCount += message.body.storedByteCount - old.storedByteCount
        entries[id]?.replaced(message, key: key)
        guard let operation = entries[id]?.operation else { return nil }
        return (operation, old)
    }

    mutating func resumed(_ id: UInt64) { entries[id]?.resumed() }

    /// Returns the operations that are too old, in order. Computes ``nextExpiry`` for the others.
    mutating func expired(at date: Int64) -> [UInt64] {
        guard date >= nextExpiry else { return [] }
        var expired: [UInt64] = []
        nextExpiry = .max
        for (id, entry) in entries {
            guard let end = entry.expiry else { continue }
            switch entry.phase {
            case .waiting, .stopped:
                if end <= date {
                    expired.append(id)
                } else {
                    nextExpiry = min(nextExpiry, end)
                }
            // Do not interrupt an operation while it is stored or sent, or while it waits for the program's decision.
            // Check its age again when it expires, but not earlier than one second from now.
            case .storing, .sending, .asking: nextExpiry = min(nextExpiry, max(end, date + 1_000))
            }
        }
        return expired.sorted()
    }

    // MARK: Attempts

    mutating func stored(_ id: UInt64) { entries[id]?.stored() }

    mutating func began(_ id: UInt64) {
        active.insert(id)
        entries[id]?.began()
    }

    /// Records that an operation is no longer active: its attempt has ended, or the program has decided about its
    /// refusal.
    ///
    /// The operation's state does not change.
    mutating func released(_ id: UInt64) { active.remove(id) }

    mutating func counted(_ id: UInt64) { entries[id]?.counted() }

    mutating func returned(_ id: UInt64) { entries[id]?.returned() }

    mutating func failed(
        _ id: UInt64, at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double, atLeast minimum: Duration?
    ) {
        entries[id]?.failed(at: uptime, backoff, jitter: jitter, atLeast: minimum)
    }

    /// Records that the program's callback for a refused operation is running. The operation stays active until this
    /// callback returns. So the limit for active operations also limits the number of callbacks.
    mutating func asked(_ id: UInt64) {
        active.insert(id)
        entries[id]?.asked()
    }

    mutating func stopped(_ id: UInt64, _ reason: OfflineStop) {
        active.remove(id)
        entries[id]?.stopped(reason)
    }

    // MARK: Reports

    /// Keeps the report about an ended operation. Removes the oldest report if there are more than `reportLimit`
    /// reports.
    mutating func keep(_ report: StoredReport) {
        reports.append(report)
        if reports.count > reportLimit { reports.removeFirst(reports.count - reportLimit) }
    }

    /// Removes a report that the program has acknowledged. Returns whether it existed.
    mutating func acknowledge(_ id: UInt64) -> Bool {
        guard reports.contains(where: { $0.id == id }) else { return false }
        reports.removeAll { $0.id == id }
        return true
    }

    // MARK: Recovery

    /// Applies a record. A record for an unknown operation has no effect.
    mutating func apply(_ record: JournalRecord) {
        switch record {
        case .header(let last): noteID(last)
        case .enqueued(let operation): if entries[operation.id] == nil { insert(operation, .waiting) }
        case .edited(let operation):
            guard let old = entries[operation.id]?.operation, old.lane == operation.lane else { return }
            storedByteCount += operation.message.body.storedByteCount - old.message.body.storedByteCount
            entries[operation.id]?.apply(record)
        case .began(let id), .returned(let id, _), .stopped(let id, _), .resumed(let id): entries[id]?.apply(record)
        case .ended(let report, let isKept):
            noteID(report.id)
            remove(report.id)
            if isKept { keep(report) }
        case .acknowledged(let id): _ = acknowledge(id)
        case .moved(let id, let other): place(id, before: other == 0 ? nil : other)
        }
    }

    /// Assumes for every operation restored so far that an attempt has begun and not ended. The reason is damage later
    /// in the journal: the damaged bytes may have contained the record of such an attempt.
    mutating func doubtAll() {
        for id in entries.keys { entries[id]?.apply(.began(id)) }
    }

    /// The operations whose attempt a restart interrupted, sorted by identifier.
    ///
    /// An attempt counts as interrupted if it began, or may have begun, before the restart, and no end was recorded.
    var interrupted: [UInt64] {
        entries.keys.filter { entries[$0]?.operation.progress.isBegun == true }.sorted()
    }

    /// Ends the recovery of the queue after a restart. An operation that had stopped before the restart stops again.
    mutating func recovered() {
        for id in entries.keys { entries[id]?.recovered() }
    }
}
