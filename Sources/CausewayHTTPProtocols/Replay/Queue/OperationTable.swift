/// An offline queue's operations, by identifier and by lane, and the reports about operations that have ended. A lane
/// is a list of operations that are sent one after another.
///
/// The journal restores this state: see ``apply(_:)`` and ``snapshot``.
struct OperationTable: Sendable {
    private var entries: [UInt64: Entry] = [:]
    /// The operations of each lane, in the order in which they are sent. No list is empty.
    private var lanes: [String: [UInt64]] = [:]
    /// The operations that are being sent, or that wait for the program's callback for refused operations.
    private var active: Set<UInt64> = []
    /// The reports about ended operations, oldest first, until the program acknowledges them.
    private(set) var reports: [StoredReport] = []
    private let reportLimit: Int
    private(set) var lastID: UInt64 = 0
    /// The total size in bytes of the contents that the queue stores for its operations.
    private(set) var storedByteCount: Int64 = 0
    /// No operation expires before this date.
    private(set) var nextExpiry = Int64.max

    /// - Parameter reportLimit: The maximum number of reports; a limit below 1 counts as 1.
    init(reportLimit: Int) { self.reportLimit = max(reportLimit, 1) }

    // MARK: Reading

    var count: Int { entries.count }
    var activeCount: Int { active.count }

    subscript(id: UInt64) -> Entry? { entries[id] }

    /// The first operation of each lane (operations that are sent one after another).
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

    /// Moves an operation within its lane (operations that are sent one after another), to the place before another
    /// operation or to the end. Returns `false` if `id` and `other` are the same operation.
    ///
    /// Neither operation may be in the process of being sent, or wait for the program's callback for refused
    /// operations.
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

    /// Returns an operation that is not being sent and does not wait for the program's callback for refused operations.
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

    /// Replaces an operation's request. Returns the operation and its old content.
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
            // An operation that is being stored or sent, or that waits for a decision, is not interrupted. Check its
            // age again when it expires, but not within the next second.
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

    /// Records that an attempt has ended, or that the program's callback for refused operations has returned. This
    /// method does not change the operation's state.
    mutating func released(_ id: UInt64) { active.remove(id) }

    mutating func counted(_ id: UInt64) { entries[id]?.counted() }

    mutating func returned(_ id: UInt64) { entries[id]?.returned() }

    mutating func failed(
        _ id: UInt64, at uptime: Duration, _ backoff: OfflinePolicy.Backoff, jitter: Double, atLeast minimum: Duration?
    ) {
        entries[id]?.failed(at: uptime, backoff, jitter: jitter, atLeast: minimum)
    }

    /// The operation counts as active until the program's callback for refused operations returns. This also limits how
    /// many of these callbacks run at the same time.
    mutating func asked(_ id: UInt64) {
        active.insert(id)
        entries[id]?.asked()
    }

    mutating func stopped(_ id: UInt64, _ reason: OfflineStop) {
        active.remove(id)
        entries[id]?.stopped(reason)
    }

    // MARK: Reports

    /// Keeps a report about an ended operation. If there are more than `reportLimit` reports, removes the oldest.
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

    /// Treats every operation restored so far as if an attempt had begun and not ended. Damaged bytes later in the
    /// journal may have contained the record of such an attempt.
    mutating func doubtAll() {
        for id in entries.keys { entries[id]?.apply(.began(id)) }
    }

    /// The operations with an attempt that began, or may have begun, before the restart and has no recorded end, in
    /// identifier order.
    var interrupted: [UInt64] {
        entries.keys.filter { entries[$0]?.operation.progress.isBegun == true }.sorted()
    }

    /// Ends the recovery. If sending had stopped at an operation before the restart, it stops there again.
    mutating func recovered() {
        for id in entries.keys { entries[id]?.recovered() }
    }
}
