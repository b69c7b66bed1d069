import CausewayExercises
import CausewayHTTPProtocols
import CausewayTestKit
import Testing

/// Returns an operation for tests.
func operation(
    _ id: UInt64, lane: String = "", method: String = "POST", body: StoredMessage.Body = .inline([1, 2, 3]),
    isIdempotent: Bool = false, created: Int64 = 0, maximumAge: Int64 = 0, maximumAttempts: UInt32 = 10
) -> StoredOperation {
    let fields = [StoredMessage.Field(name: "Content-Type", value: "text/plain; name=\"Plzeň\"")]
    let message = StoredMessage(method: method, target: "notes/\(id)?a=b", fields: fields, body: body)
    let rules = StoredOperation.Rules(
        maximumAge: maximumAge, maximumAttempts: maximumAttempts, isIdempotent: isIdempotent, reportsSuccess: false)
    return StoredOperation(id: id, lane: lane, message: message, key: "key-\(id)", created: created, rules: rules)
}

@Suite("Offline queue: the journal")
struct JournalTests {
    private static let operations: [StoredOperation] = {
        var stopped = operation(3, body: .file(name: "content-a", byteCount: 70_000))
        stopped.progress = StoredOperation.Progress(attempts: 2, isBegun: false, stop: .refused(status: 409))
        return [
            operation(1), operation(2, lane: "ä", method: "DELETE", body: .none), stopped,
            operation(4, body: .reference(path: "/a/b", byteCount: 9, changed: -1)),
        ]
    }()

    static let records: [JournalRecord] = {
        let outcomes: [OfflineOutcome] = [
            .succeeded(status: 201), .conflicted(status: 412), .rejected(status: 400), .expired(.age),
            .expired(.attempts),
            .unknown, .cancelled(mayHaveBeenSent: true), .cancelled(mayHaveBeenSent: false), .invalid("missing"),
        ]
        let reports = outcomes.map { JournalRecord.ended(StoredReport(operations[0], $0, at: 77), isKept: true) }
        return [.header(lastID: 9)] + operations.map { .enqueued($0) } + reports + [
            .edited(operations[1]), .began(1), .returned(1, counts: true), .acknowledged(1), .moved(2, before: 1),
            .moved(2, before: 0), .stopped(3, .unknownFate), .stopped(3, .refused(status: 412)), .resumed(3),
        ]
    }()

    private static func file(_ records: [JournalRecord]) -> [UInt8] { records.flatMap { Journal.frame($0) ?? [] } }

    @Test("Every record is read as it was written")
    func roundTrip() {
        let bytes = Self.file(Self.records)
        let content = Journal.read(bytes)
        #expect(content.records == Self.records)
        #expect(content.validByteCount == bytes.count && content.damagedByteCount == 0 && !content.isForeign)
    }

    @Test(
        "The name of a content file has no slash",
        arguments: [("content", 1), ("../content", 0), ("../\u{301}content", 0)])
    func fileName(_ name: String, _ count: Int) {
        let record = JournalRecord.enqueued(operation(1, body: .file(name: name, byteCount: 1)))
        #expect(Journal.read(Self.file([record])).records.count == count)
    }

    @Test("A journal that is cut at any byte gives the records before the cut")
    func torn() {
        let bytes = Self.file(Self.records)
        var ends = [0]
        for record in Self.records { ends.append(ends[ends.count - 1] + (Journal.frame(record)?.count ?? 0)) }
        for length in 0...bytes.count {
            let content = Journal.read(Array(bytes[..<length]))
            let whole = ends.lastIndex { $0 <= length } ?? 0
            #expect(content.records == Array(Self.records[..<whole]), "\(length) bytes")
            #expect(content.validByteCount == ends[whole] && content.damagedByteCount == 0)
        }
    }

    @Test("A damaged byte loses one record, and what came before it is doubtful")
    func damaged() {
        let bytes = Self.file(Self.records)
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            var damaged = bytes
            let place = random.integer(in: 0...(bytes.count - 1))
            damaged[place] ^= UInt8(1 << random.integer(in: 0...7))
            let content = Journal.read(damaged)
            #expect(content.records.count >= Self.records.count - 2)
            // If the last record is damaged, the reader takes it for a record that was written only in part.
            let isLast = content.validByteCount < bytes.count
            #expect(isLast || content.damagedByteCount > 0 && content.doubtfulRecordCount < content.records.count)
            #expect(content.records.allSatisfy { Self.records.contains($0) })
        }
    }

    @Test("A damaged record that contains many frame headers hides no later record")
    func headersInDamage() {
        // Each of these false headers states a large frame size. The frame would reach far into the records that
        // follow.
        let header: [UInt8] = [0xCA, 0x57, 0x4A, 0x31, 0x40, 0x0D, 0x03, 0, 0, 0, 0, 0]
        let headers = Array(repeatElement(header, count: 1_300).joined())
        let later = (2...21).map { id in
            JournalRecord.enqueued(operation(id, body: .inline([UInt8](repeating: UInt8(id), count: 15_000))))
        }
        var bytes = Self.file([.enqueued(operation(1, body: .inline(headers)))] + later)
        bytes[Journal.overhead + 1] ^= 1
        let content = Journal.read(bytes)
        #expect(content.records == later && content.validByteCount == bytes.count && content.damagedByteCount > 15_000)
    }

    @Test("Another version, another file and too long records are refused")
    func foreign() {
        #expect(Journal.read(Array("SQLite format 3".utf8)).isForeign)
        #expect(!Journal.read([]).isForeign)
        #expect(Journal.frame(.enqueued(operation(1, body: .inline(Array(repeating: 0, count: 2 << 20))))) == nil)
        // A record of a later version with a right checksum.
        var later = JournalRecord.header(lastID: 1).encoded
        later[1] = 9
        #expect(JournalRecord(later[...]) == nil)
    }

    @Test("Random bytes, whole and within frames, are read without a trap", arguments: 0..<40)
    func random(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<50 {
            let bytes = (0..<random.integer(in: 0...200)).map { _ in UInt8(random.integer(in: 0...255)) }
            Exercise.journal(bytes)
            #expect(Journal.read(bytes).validByteCount <= bytes.count)
        }
        // Also change bytes in valid records, because parsing them gets further than parsing random bytes.
        for record in Self.records {
            var bytes = record.encoded
            bytes[random.integer(in: 0...(bytes.count - 1))] = UInt8(random.integer(in: 0...255))
            Exercise.journal(bytes)
        }
    }
}
