/// A change to an offline queue, as the journal stores it. The journal contains all changes.
package enum JournalRecord: Equatable, Sendable {
    /// The first record of the journal file.
    case header(lastID: UInt64)
    /// An operation was added to the end of its lane. A lane is a sequence of operations that are sent one after
    /// another.
    case enqueued(StoredOperation)
    /// The program has replaced the operation's request, or its callback for refused operations has done so.
    case edited(StoredOperation)
    /// An attempt to send an operation begins. The journal gets this record before the first byte is sent.
    case began(UInt64)
    /// An attempt has ended, and the operation waits again. `counts` is `true` if the attempt may have reached the
    /// server. Such an attempt counts toward the permitted number of attempts.
    case returned(UInt64, counts: Bool)
    /// An operation has ended. If `isKept` is true, its report is stored until the program acknowledges it.
    case ended(StoredReport, isKept: Bool)
    /// The program has acknowledged the report about an operation's end.
    case acknowledged(UInt64)
    /// An operation was moved within its lane, which is a sequence of operations that are sent one after the other.
    ///
    /// Its new place is before the operation with the ID `before`. If `before` is 0, its new place is the lane's end.
    case moved(UInt64, before: UInt64)
    /// Sending stopped at an operation. The operations after it in the same lane must wait.
    case stopped(UInt64, OfflineStop)
    /// Sending resumes. It continues with the operation at which it had stopped.
    case resumed(UInt64)

    /// The format version. Journals with other versions are not read.
    package static let version: UInt8 = 1

    /// The encoded record.
    package var encoded: [UInt8] {
        var writer = RecordWriter()
        switch self {
        case .header(let lastID):
            writer.append(UInt8(0))
            writer.append(Self.version)
            writer.append(lastID)
        case .enqueued(let operation):
            writer.append(UInt8(1))
            writer.append(operation)
        case .edited(let operation):
            writer.append(UInt8(2))
            writer.append(operation)
        case .began(let id):
            writer.append(UInt8(3))
            writer.append(id)
        case .returned(let id, let counts):
            writer.append(UInt8(4))
            writer.append(id)
            writer.append(counts)
        case .ended(let report, let isKept):
            writer.append(UInt8(5))
            writer.append(report)
            writer.append(isKept)
        case .acknowledged(let id):
            writer.append(UInt8(6))
            writer.append(id)
        case .moved(let id, let other):
            writer.append(UInt8(7))
            writer.append(id)
            writer.append(other)
        case .stopped(let id, let reason):
            writer.append(UInt8(8))
            writer.append(id)
            writer.append(reason)
        case .resumed(let id):
            writer.append(UInt8(9))
            writer.append(id)
        }
        return writer.bytes
    }

    /// Parses a record; `nil` unless the bytes are exactly one valid record.
    package init?(_ bytes: ArraySlice<UInt8>) {
        var reader = RecordReader(bytes)
        guard let kind = reader.integer(UInt8.self), let record = Self.read(kind, &reader), reader.isAtEnd else {
            return nil
        }
        self = record
    }

    private static func read(_ kind: UInt8, _ reader: inout RecordReader) -> JournalRecord? {
        switch kind {
        case 0:
            guard reader.integer(UInt8.self) == version else { return nil }
            return reader.integer().map { .header(lastID: $0) }
        case 1: return reader.operation().map { .enqueued($0) }
        case 2: return reader.operation().map { .edited($0) }
        case 5:
            guard let report = reader.report(), let isKept = reader.flag() else { return nil }
            return .ended(report, isKept: isKept)
        default: return reader.integer(UInt64.self).flatMap { readChange(kind, $0, &reader) }
        }
    }

    private static func readChange(_ kind: UInt8, _ id: UInt64, _ reader: inout RecordReader) -> JournalRecord? {
        switch kind {
        case 3: .began(id)
        case 4: reader.flag().map { .returned(id, counts: $0) }
        case 6: .acknowledged(id)
        case 7: reader.integer().map { .moved(id, before: $0) }
        case 8: reader.stop().map { .stopped(id, $0) }
        case 9: .resumed(id)
        default: nil
        }
    }
}
