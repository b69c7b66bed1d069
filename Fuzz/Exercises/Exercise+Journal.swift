internal import CausewayHTTPProtocols

extension Exercise {
    /// Parses bytes as the journal of an offline queue: as a whole file, and as single records with valid checksums.
    /// Checks that the parsed records survive writing and reading. Also checks that a queue can restore them, and that
    /// its snapshot has the same state.
    ///
    /// - Returns: Whether the bytes contain a record.
    @discardableResult
    public static func journal(_ bytes: [UInt8]) -> Bool {
        let direct = Journal.read(bytes)
        precondition(direct.validByteCount + direct.damagedByteCount <= 2 * bytes.count, "positions")
        precondition(direct.doubtfulRecordCount <= direct.records.count, "doubtful records")
        var records = direct.records
        for piece in bytes.split(separator: 0xFF, maxSplits: 64) {
            if let record = JournalRecord(piece) { records.append(record) }
        }
        if let record = JournalRecord(bytes[...]) { records.append(record) }
        for record in records {
            guard let again = JournalRecord(record.encoded[...]) else {
                preconditionFailure("a record that cannot be read again")
            }
            precondition(again == record, "another record")
        }
        let file = records.flatMap { Journal.frame($0) ?? [] }
        let read = Journal.read(file)
        precondition(read.records == records && read.damagedByteCount == 0, "another journal")
        use(records, bytes.count)
        return !records.isEmpty
    }

    private static func use(_ records: [JournalRecord], _ count: Int) {
        let now = ReplayTime(uptime: .seconds(1), date: 1_700_000_000_000)
        var queue = ReplayQueue()
        _ = queue.recover(records, doubtful: count % (records.count + 1), at: now)
        var again = ReplayQueue()
        let snapshot = queue.snapshot
        let effects = again.recover(snapshot, at: now)
        precondition(effects.isEmpty, "a decision that was not stored")
        precondition(again.snapshot == snapshot, "another state")
        _ = queue.deadline
        var begun: Set<UInt64> = []
        for step in 1..<8 {
            let time = ReplayTime(uptime: .seconds(step * 1_000), date: now.date + Int64(step) * 1_000_000)
            for case .begin(let id) in queue.advance(to: time) {
                precondition(begun.insert(id).inserted, "begun twice")
                _ = queue.attemptEnded(id, .response(status: 200), at: time, jitter: 0.5)
                precondition(queue.operation(id) == nil, "an operation that does not end")
            }
        }
    }
}
