/// Writes a record's fields. Integers are little-endian; texts and byte strings begin with a four-byte length.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger) {
        var rest = value
        for _ in 0..<(value.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest = value.bitWidth > 8 ? rest >> 8 : 0
        }
    }

    mutating func append(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func append(_ value: [UInt8]) {
        append(UInt32(clamping: value.count))
        bytes += value
    }

    mutating func append(_ value: String) { append(Array(value.utf8)) }
}

/// Reads the fields of a journal record. If one field is missing, the reader returns `nil` for this field and for all
/// later fields.
struct RecordReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        guard let bytes = take(Value.bitWidth / 8) else { return nil }
        var value: Value = 0
        for (index, byte) in bytes.enumerated() { value |= Value(truncatingIfNeeded: byte) << (8 * index) }
        return value
    }

    mutating func flag() -> Bool? {
        guard let byte = integer(UInt8.self), byte < 2 else { return nil }
        return byte == 1
    }

    mutating func bytes() -> [UInt8]? { integer(UInt32.self).flatMap { take(Int($0)) }.map { Array($0) } }

    mutating func text() -> String? {
        guard let bytes = bytes() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else {
            rest = []
            return nil
        }
        let taken = rest.prefix(count)
        rest = rest.dropFirst(count)
        return taken
    }
}
