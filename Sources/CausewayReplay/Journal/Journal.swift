/// The file format for an offline queue: one frame per record.
///
/// ```
/// +------------------+--------------------+----------------------+----------------+
/// | magic, 4 bytes   | length N, 4 bytes  | CRC-32C, 4 bytes     | record, N bytes|
/// +------------------+--------------------+----------------------+----------------+
/// ```
///
/// Integers are little-endian. The checksum covers length and record. Frames are only appended. After a kill or power
/// failure, the file may end with an incomplete frame, which is cut off. A damaged frame in the middle is skipped: the
/// magic bytes mark the next one.
package enum Journal {
    /// Maximum record size in bytes.
    package static let maximumRecordByteCount = 1 << 20
    /// Bytes before the record in each frame.
    package static let overhead = 12
    private static let magic: [UInt8] = [0xCA, 0x57, 0x4A, 0x31]

    /// Returns a record as a frame; `nil` if it exceeds ``maximumRecordByteCount``.
    package static func frame(_ record: JournalRecord) -> [UInt8]? {
        let body = record.encoded
        guard body.count <= maximumRecordByteCount else { return nil }
        var covered = RecordWriter()
        covered.append(UInt32(body.count))
        let covering = covered.bytes + body
        var checksum = RecordWriter()
        checksum.append(Checksum.of(covering[...]))
        return magic + covered.bytes + checksum.bytes + body
    }

    /// A parsed file.
    package struct Content: Equatable, Sendable {
        package var records: [JournalRecord] = []
        /// The offset at which the last valid frame ends. The rest is a torn frame.
        package var validByteCount = 0
        /// The number of damaged bytes before valid frames.
        package var damagedByteCount = 0
        /// The number of records before the last damage. Later changes to their operations may be lost.
        package var doubtfulRecordCount = 0
        /// Whether the file has another version, or is not a journal.
        package var isForeign = false
    }

    /// Parses a file. Accepts any input.
    package static func read(_ bytes: [UInt8]) -> Content {
        var content = Content()
        var position = 0
        // Limit checksum work to about four times the file size, because damaged bytes may look like many frame headers.
        var budget = 4 * bytes.count + 4096
        if let first = body(bytes, 0, &budget), bytes[first].first == 0, JournalRecord(bytes[first]) == nil {
            content.isForeign = true
            return content
        }
        while position < bytes.count {
            if let end = append(bytes, position, &content, &budget) {
                position = end
                content.validByteCount = end
                continue
            }
            guard let next = nextFrame(in: bytes, after: position, &budget) else { break }
            content.damagedByteCount += next - position
            content.doubtfulRecordCount = content.records.count
            position = next
        }
        content.isForeign = content.records.isEmpty && !bytes.isEmpty
        return content
    }

    /// Parses the frame at a position. Returns its end; `nil` without a valid frame.
    private static func append(
        _ bytes: [UInt8], _ position: Int, _ content: inout Content, _ budget: inout Int
    ) -> Int? {
        guard let body = body(bytes, position, &budget), let record = JournalRecord(bytes[body]) else { return nil }
        content.records.append(record)
        return body.upperBound
    }

    /// Returns the record's range in a frame with a valid checksum. Subtracts the record size from the budget.
    private static func body(_ bytes: [UInt8], _ position: Int, _ budget: inout Int) -> Range<Int>? {
        guard bytes.count - position >= overhead, bytes[position..<(position + 4)].elementsEqual(magic) else {
            return nil
        }
        var reader = RecordReader(bytes[(position + 4)..<(position + overhead)])
        guard let length = reader.integer(UInt32.self), length <= maximumRecordByteCount,
            let checksum = reader.integer(UInt32.self), bytes.count - position - overhead >= Int(length)
        else { return nil }
        let body = (position + overhead)..<(position + overhead + Int(length))
        budget -= Int(length)
        guard budget > 0 else { return nil }
        let covered = bytes[(position + 4)..<(position + 8)] + bytes[body]
        return Checksum.of(covered[...]) == checksum ? body : nil
    }

    private static func nextFrame(in bytes: [UInt8], after position: Int, _ budget: inout Int) -> Int? {
        var index = position + 1
        while index + overhead <= bytes.count, budget > 0 {
            if bytes[index] == magic[0], let body = body(bytes, index, &budget), JournalRecord(bytes[body]) != nil {
                return index
            }
            index += 1
        }
        return nil
    }
}
