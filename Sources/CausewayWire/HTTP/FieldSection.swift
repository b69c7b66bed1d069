/// Fields in order (RFC 9110 §5): a message's header or trailer section, in any HTTP version.
///
/// All names and values are stored in one byte block with an index, so a section with many fields needs only two
/// allocations. Names keep their original case and are compared case-insensitively (RFC 9110 §5.1). The section does
/// not validate its content. Decoders validate fields before they append them, and encoders before they write them.
package struct FieldSection: Sendable {
    /// A field line: a name and its value. Both are slices of the section's block.
    package struct Field: Sendable, Equatable {
        package var name: ArraySlice<UInt8>
        package var value: ArraySlice<UInt8>
    }

    /// One field's position in the block.
    struct Entry: Equatable, Sendable {
        var nameStart: UInt32
        var nameCount: UInt32
        var valueStart: UInt32
        var valueCount: UInt32
    }

    private(set) var block: [UInt8]
    private(set) var entries: [Entry]
    /// Total size of all names and values in bytes.
    package private(set) var byteCount: Int

    /// Creates an empty section.
    package init() {
        block = []
        entries = []
        byteCount = 0
    }

    /// Creates a section that uses `block` as its storage, without a copy. The block contains all names and values.
    ///
    /// - Parameter entries: The field positions, which must be inside `block`.
    init(block: [UInt8], entries: [Entry]) {
        self.block = block
        self.entries = entries
        byteCount = 0
        for entry in entries { byteCount += Int(entry.nameCount) + Int(entry.valueCount) }
    }

    /// Number of field lines.
    package var count: Int { entries.count }

    /// Appends a field line.
    ///
    /// - Precondition: The block stays below 4 GiB. Decoders limit sections far below that.
    package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        let start = block.count
        block.append(contentsOf: name)
        let middle = block.count
        block.append(contentsOf: value)
        note(from: start, through: middle)
    }

    /// Appends a field line.
    package mutating func append(_ name: String, _ value: String) {
        append(name: name.utf8, value: value.utf8)
    }

    /// Inserts a field line before all others.
    package mutating func prepend(_ name: String, _ value: String) {
        append(name, value)
        entries.insert(entries.removeLast(), at: 0)
    }

    /// Appends all field lines of another section.
    package mutating func append(contentsOf other: FieldSection) {
        for field in other { append(name: field.name, value: field.value) }
    }

    /// Reserves memory for fields that are about to be appended.
    package mutating func reserveCapacity(fields: Int, bytes: Int) {
        entries.reserveCapacity(fields)
        block.reserveCapacity(bytes)
    }

    private mutating func note(from start: Int, through middle: Int) {
        let end = block.count
        entries.append(
            Entry(
                nameStart: UInt32(start), nameCount: UInt32(middle - start), valueStart: UInt32(middle),
                valueCount: UInt32(end - middle)))
        byteCount += end - start
    }

    /// Returns whether the section has a field with this name.
    package func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// Removes all field lines with this name.
    package mutating func removeAll(_ name: String) {
        guard let first = index(of: name) else { return }
        var kept = Array(entries[..<first])
        for index in first..<entries.count {
            if isName(name, at: index) {
                byteCount -= Int(entries[index].nameCount) + Int(entries[index].valueCount)
            } else {
                kept.append(entries[index])
            }
        }
        entries = kept
    }

    /// Replaces the entries with `kept` after field lines were removed. `removed` is the size in bytes of all removed
    /// names and values.
    mutating func replaceEntries(_ kept: [Entry], removed: Int) {
        entries = kept
        byteCount -= removed
    }

    /// Removes all field lines with this name, then appends a field line with this value.
    package mutating func set(_ name: String, _ value: String) {
        removeAll(name)
        append(name, value)
    }

    /// Removes all field lines with this name, then appends a field line with this value.
    package mutating func set(_ name: String, bytes: some Collection<UInt8>) {
        removeAll(name)
        append(name: name.utf8, value: bytes)
    }

    /// Returns the index of the first field line with this name at or after `start`.
    package func index(of name: String, from start: Int = 0) -> Int? {
        let wanted = name.utf8.span
        let count = UInt32(truncatingIfNeeded: wanted.count)
        var index = start
        // Most field names differ in length, so most comparisons end after the length.
        while index < entries.count {
            if entries[index].nameCount == count, isName(wanted, at: index) { return index }
            index += 1
        }
        return nil
    }

    /// Returns whether the field line at `index` has this name, ignoring case.
    package func isName(_ name: String, at index: Int) -> Bool { isName(name.utf8.span, at: index) }

    private func isName(_ wanted: borrowing Span<UInt8>, at index: Int) -> Bool {
        let entry = entries[index]
        guard wanted.count == Int(entry.nameCount) else { return false }
        let block = block.span
        let start = Int(entry.nameStart)
        for offset in 0..<wanted.count where !Self.areEqualIgnoringCase(block[start + offset], wanted[offset]) {
            return false
        }
        return true
    }

    /// Compares two ASCII characters, ignoring case. Other bytes are equal only to themselves.
    static func areEqualIgnoringCase(_ one: UInt8, _ other: UInt8) -> Bool {
        if one == other { return true }
        let lower = one | 0x20
        return lower == other | 0x20 && lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }
}

extension FieldSection: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { entries.count }

    /// Returns the field line at `index`.
    package subscript(index: Int) -> Field {
        let entry = entries[index]
        let nameStart = Int(entry.nameStart)
        let valueStart = Int(entry.valueStart)
        return Field(
            name: block[nameStart..<nameStart + Int(entry.nameCount)],
            value: block[valueStart..<valueStart + Int(entry.valueCount)])
    }
}

extension FieldSection {
    /// Returns only the value in the field line at `index`. Returning the name too would cost additional reference
    /// counting.
    package func value(at index: Int) -> ArraySlice<UInt8> {
        let entry = entries[index]
        let start = Int(entry.valueStart)
        return block[start..<start + Int(entry.valueCount)]
    }

    /// Returns the first value with this name. Bytes that are not UTF-8 become U+FFFD.
    package func firstValue(of name: String) -> String? {
        index(of: name).map { String(decoding: value(at: $0), as: UTF8.self) }
    }

    /// Returns all values with this name, in order. Bytes that are not UTF-8 become U+FFFD.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        var next = index(of: name)
        while let found = next {
            values.append(String(decoding: value(at: found), as: UTF8.self))
            next = index(of: name, from: found + 1)
        }
        return values
    }
}

extension FieldSection: Equatable {
    /// Compares two sections line by line. Names are compared case-insensitively, values byte by byte.
    package static func == (one: FieldSection, other: FieldSection) -> Bool {
        guard one.count == other.count, one.byteCount == other.byteCount else { return false }
        // Copies of a section share their block and their index. Comparing them as arrays therefore returns
        // immediately.
        if one.entries == other.entries, one.block == other.block { return true }
        return zip(one, other).allSatisfy { mine, theirs in
            mine.value == theirs.value && mine.name.count == theirs.name.count
                && zip(mine.name, theirs.name).allSatisfy(areEqualIgnoringCase)
        }
    }
}

extension FieldSection: CustomStringConvertible {
    /// The section as text, one field per line.
    package var description: String {
        map { "\(String(decoding: $0.name, as: UTF8.self)): \(String(decoding: $0.value, as: UTF8.self))" }
            .joined(separator: "\n")
    }
}
