/// A text file with records: the storage format for cookies, credentials and Strict-Transport-Security hosts.
///
/// The first line names the record kind. Each other line is a record: a checksum and the fields, separated by tabs.
/// Within fields, spaces, control characters and percent signs are percent-encoded. A damaged line loses only its own
/// record.
package enum RecordFile {
    /// The maximum record count to read.
    package static let maximumCount = 10_000
    /// The maximum field count per record.
    package static let maximumFieldCount = 32

    package static func encode(kind: String, _ records: [[[UInt8]]]) -> [UInt8] {
        var file = Array(kind.utf8) + [0x0A]
        for record in records {
            var line: [UInt8] = []
            for field in record {
                line.append(0x09)
                for byte in field { append(byte, to: &line) }
            }
            file += Hexadecimal.text(FNV1a.hash32(line)).utf8
            file += line
            file.append(0x0A)
        }
        return file
    }

    /// Returns a file's undamaged records; none if the file has another kind.
    package static func decode(kind: String, _ file: [UInt8]) -> [[[UInt8]]] {
        var lines = file.split(separator: 0x0A, omittingEmptySubsequences: true)[...]
        guard let first = lines.popFirst(), first.elementsEqual(kind.utf8) else { return [] }
        // A file that does not end with a line feed was truncated. Drop its last line, which is incomplete.
        if file.last != 0x0A { _ = lines.popLast() }
        return lines.prefix(maximumCount).compactMap(record)
    }

    private static func record(_ line: ArraySlice<UInt8>) -> [[UInt8]]? {
        guard line.count > 8 else { return nil }
        let content = line.dropFirst(8)
        let checksum = Hexadecimal.text(FNV1a.hash32(content))
        guard content.first == 0x09, line.prefix(8).elementsEqual(checksum.utf8) else { return nil }
        let fields = content.dropFirst().split(separator: 0x09, omittingEmptySubsequences: false)
        guard fields.count <= maximumFieldCount else { return nil }
        return fields.map(PercentCoding.bytesKeepingMalformed)
    }

    private static func append(_ byte: UInt8, to line: inout [UInt8]) {
        if byte > 0x20, byte != 0x25, byte != 0x7F { return line.append(byte) }
        line.append(0x25)
        Hexadecimal.append(byte, to: &line)
    }
}
