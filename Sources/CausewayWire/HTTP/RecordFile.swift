/// A text file with records, in which stores keep cookies and credentials.
///
/// The first line names the record kind. Each further line is a record: a checksum and the fields, separated by tabs.
/// Within fields, tabs, control characters and percent signs are percent-encoded. A damaged line loses only its own
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
            file += hexadecimal(checksum(line[...]))
            file += line
            file.append(0x0A)
        }
        return file
    }

    /// Returns a file's undamaged records; none if the file has another kind.
    package static func decode(kind: String, _ file: [UInt8]) -> [[[UInt8]]] {
        var lines = file.split(separator: 0x0A, omittingEmptySubsequences: true)[...]
        guard let first = lines.popFirst(), first.elementsEqual(kind.utf8) else { return [] }
        // A file without a final line feed was truncated.
        if file.last != 0x0A { _ = lines.popLast() }
        return lines.prefix(maximumCount).compactMap(record)
    }

    private static func record(_ line: ArraySlice<UInt8>) -> [[UInt8]]? {
        guard line.count > 8 else { return nil }
        let content = line.dropFirst(8)
        guard content.first == 0x09, line.prefix(8).elementsEqual(hexadecimal(checksum(content))) else { return nil }
        let fields = content.dropFirst().split(separator: 0x09, omittingEmptySubsequences: false)
        guard fields.count <= maximumFieldCount else { return nil }
        return fields.map(decoded)
    }

    private static func append(_ byte: UInt8, to line: inout [UInt8]) {
        if byte > 0x20, byte != 0x25, byte != 0x7F { return line.append(byte) }
        line.append(0x25)
        line += hexadecimal(UInt32(byte)).suffix(2)
    }

    private static func decoded(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == 0x25, rest.count >= 2, let high = digit(rest[rest.startIndex]),
                let low = digit(rest[rest.startIndex + 1])
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Returns the FNV-1a hash, which detects accidental damage only.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    private static func hexadecimal(_ value: UInt32) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return stride(from: 28, through: 0, by: -4).map { digits[Int(value >> UInt32($0) & 0xF)] }
    }
}
