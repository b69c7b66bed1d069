/// The format of the file of an offline queue: frames, one for each record.
///
/// ```
/// +------------------+--------------------+----------------------+----------------+
/// | magic, 4 bytes   | length N, 4 bytes  | CRC-32C, 4 bytes     | record, N bytes|
/// +------------------+--------------------+----------------------+----------------+
/// ```
///
/// Integers are little-endian. The checksum covers the length and the record. A frame is only appended, so a killed program or a failure of power leaves an
/// incomplete frame at the end, which is cut off. A damaged frame in the middle is skipped: the magic bytes find the next one.
package enum Journal {
    /// The maximum number of bytes of a record.
    package static let maximumRecordByteCount = 1 << 20
    /// The bytes of a frame before its record.
    package static let overhead = 12
    private static let magic: [UInt8] = [0xCA, 0x57, 0x4A, 0x31]

    /// Returns a record as a frame; `nil` if it is too long.
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

    /// The content of a file.
    package struct Content: Equatable, Sendable {
        package var records: [JournalRecord] = []
        /// The number of bytes up to the end of the last valid frame. The rest is a torn frame.
        package var validByteCount = 0
        /// The number of bytes between valid frames that are no frames.
        package var damagedByteCount = 0
        /// The number of records before the last damage. Later changes of their operations may be lost.
        package var doubtfulRecordCount = 0
        /// Whether the file is of another version, or no journal.
        package var isForeign = false
    }

    /// Reads a file. Every input is accepted.
    package static func read(_ bytes: [UInt8]) -> Content {
        var content = Content()
        var position = 0
        // Each search for the next frame costs at most as much as the file is long.
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

    /// Reads the frame at a position. Returns its end; `nil` if there is none.
    private static func append(
        _ bytes: [UInt8], _ position: Int, _ content: inout Content, _ budget: inout Int
    ) -> Int? {
        guard let body = body(bytes, position, &budget), let record = JournalRecord(bytes[body]) else { return nil }
        content.records.append(record)
        return body.upperBound
    }

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
