/// Reads the frames of a journal file. After damaged bytes, finds the next valid frame.
struct JournalScan {
    private let bytes: [UInt8]
    /// Checksums for all bytes after the first damage. Damaged bytes can look like many frame headers, each with a long
    /// frame. Without this index, reading all of these frames would take too long.
    private var index: ChecksumIndex?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the record's range in the frame at a position; `nil` if there is no frame, or if its checksum is wrong.
    func body(at position: Int) -> Range<Int>? {
        let start = position + Journal.overhead
        guard bytes.count >= start, bytes[position..<(position + 4)].elementsEqual(Journal.magic) else { return nil }
        var reader = RecordReader(bytes[(position + 4)..<start])
        guard let length = reader.integer(UInt32.self), length <= Journal.maximumRecordByteCount,
            let checksum = reader.integer(UInt32.self), bytes.count - start >= Int(length)
        else { return nil }
        let body = start..<(start + Int(length))
        let head = bytes[(position + 4)..<(position + 8)]
        let found = index?.checksum(of: body, after: head) ?? Checksum.of(head + bytes[body])
        return found == checksum ? body : nil
    }

    /// Returns the record in the frame that starts at a position, and the end of the frame. Returns `nil` if there is
    /// no valid frame.
    func frame(at position: Int) -> (record: JournalRecord, end: Int)? {
        guard let body = body(at: position), let record = JournalRecord(bytes[body]) else { return nil }
        return (record, body.upperBound)
    }

    /// Returns the start of the first valid frame after damage at a position; `nil` if there is none.
    mutating func nextFrame(after position: Int) -> Int? {
        if index == nil { index = ChecksumIndex(bytes[position...]) }
        var start = position + 1
        while start + Journal.overhead <= bytes.count {
            if bytes[start] == Journal.magic[0], frame(at: start) != nil { return start }
            start += 1
        }
        return nil
    }
}
