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
/// magic bytes mark the next frame.
package enum Journal {
    /// Maximum record size in bytes.
    package static let maximumRecordByteCount = 1 << 20
    /// The number of bytes that precede the record in each journal frame.
    package static let overhead = 12
    static let magic: [UInt8] = [0xCA, 0x57, 0x4A, 0x31]

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
        /// The offset at which the file's last valid frame ends. Any bytes after it are an incomplete or damaged frame.
        package var validByteCount = 0
        /// The total number of damaged bytes that are followed by a valid frame. Damaged bytes at the end of the file
        /// are not counted.
        package var damagedByteCount = 0
        /// The number of records before the last damage. Damage counts only if a valid frame follows it. The damaged
        /// bytes may have contained later changes to the operations in these records.
        package var doubtfulRecordCount = 0
        /// Whether the file has another version, or is not a journal.
        package var isForeign = false
    }

    /// Parses a file. Accepts any input.
    package static func read(_ bytes: [UInt8]) -> Content {
        var content = Content()
        var scan = JournalScan(bytes)
        if let first = scan.body(at: 0), bytes[first].first == 0, JournalRecord(bytes[first]) == nil {
            content.isForeign = true
            return content
        }
        var position = 0
        while position < bytes.count {
            if let (record, end) = scan.frame(at: position) {
                content.records.append(record)
                position = end
                content.validByteCount = end
                continue
            }
            guard let next = scan.nextFrame(after: position) else { break }
            content.damagedByteCount += next - position
            content.doubtfulRecordCount = content.records.count
            position = next
        }
        content.isForeign = content.records.isEmpty && !bytes.isEmpty
        return content
    }
}
