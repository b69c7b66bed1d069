/// Encodes the field blocks in one direction of a connection (RFC 7541 §3, §2.2).
///
/// Blocks must be sent in encoding order.
package struct HPACKEncoder: Sendable {
    /// The dynamic table's maximum size, even if the peer permits more.
    package static let largestTableSize = 4096

    private var table = HPACKDynamicTable(capacity: HPACKDecoder.defaultTableSize)
    /// The table's maximum sizes to announce in the next block: the smallest one since the previous block, and the
    /// current one. `nil` if the maximum did not change.
    private var sizeUpdate: (smallest: Int, last: Int)?
    /// Whether strings may be Huffman-coded. A string is coded only if this makes it shorter.
    package var usesHuffman = true
    private var scratch: [UInt8] = []

    package init() {}

    /// The dynamic table's entry count.
    package var tableCount: Int { table.count }
    /// The dynamic table's size: the sum of its entry sizes (RFC 7541 §4.1).
    package var tableSize: Int { table.size }

    /// Sets the maximum dynamic table size that the peer permits (`SETTINGS_HEADER_TABLE_SIZE`). The next block
    /// announces the change (RFC 7541 §4.2).
    package mutating func setMaximumTableSize(_ size: Int) {
        let size = min(max(0, size), Self.largestTableSize)
        guard size != table.capacity else { return }
        table.setCapacity(size)
        sizeUpdate = (min(size, sizeUpdate?.smallest ?? size), size)
    }

    /// Begins a block: appends the pending table size changes (RFC 7541 §6.3).
    package mutating func beginBlock(_ bytes: inout [UInt8]) {
        guard let update = sizeUpdate.take() else { return }
        if update.smallest < update.last {
            HPACKInteger.append(update.smallest, prefix: 5, pattern: 0x20, to: &bytes)
        }
        HPACKInteger.append(update.last, prefix: 5, pattern: 0x20, to: &bytes)
    }

    /// Appends the fields in order, with names in lower case (RFC 9113 §8.2).
    package mutating func append(_ fields: FieldSection, to bytes: inout [UInt8]) {
        for field in fields { append(name: field.name.span, value: field.value.span, to: &bytes) }
    }

    /// Appends one field, with its name in lower case.
    package mutating func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        append(name: name.utf8.span, value: value.utf8.span, to: &bytes)
    }

    /// Appends one field, with its name in lower case.
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>, to bytes: inout [UInt8]) {
        guard name.indices.contains(where: { isUpperCase(name[$0]) }) else {
            return appendLowerCase(name: name, value: value, to: &bytes)
        }
        var lower: [UInt8] = []
        lower.reserveCapacity(name.count)
        for index in name.indices { lower.append(isUpperCase(name[index]) ? name[index] | 0x20 : name[index]) }
        appendLowerCase(name: lower.span, value: value, to: &bytes)
    }

    private mutating func appendLowerCase(name: Span<UInt8>, value: Span<UInt8>, to bytes: inout [UInt8]) {
        let nameHash = HPACKHash.of(name)
        let staticIndex = HPACKStaticTable.shared.index(of: name, hash: nameHash)
        let indexing = HPACKIndexing(name, staticIndex: staticIndex, valueCount: value.count)
        guard indexing != .never else {
            return appendLiteral(.never, name: name, nameIndex: staticIndex, value: value, to: &bytes)
        }
        if let staticIndex, let index = HPACKStaticTable.shared.index(of: value, startingAt: staticIndex) {
            return HPACKInteger.append(index, prefix: 7, pattern: 0x80, to: &bytes)
        }
        let fieldHash = HPACKHash.of(value, seed: nameHash)
        let found = find(name: name, nameHash: nameHash, value: value, fieldHash: fieldHash)
        if let index = found.field { return HPACKInteger.append(index, prefix: 7, pattern: 0x80, to: &bytes) }
        appendLiteral(indexing, name: name, nameIndex: staticIndex ?? found.name, value: value, to: &bytes)
        guard indexing == .incremental else { return }
        scratch.removeAll(keepingCapacity: true)
        append(name, to: &scratch)
        append(value, to: &scratch)
        table.insert(scratch[...], nameCount: name.count, nameHash: nameHash, fieldHash: fieldHash)
    }

    /// Searches the dynamic table for a field. In the result, `field` is the index of an entry with the same name and
    /// value. `name` is the index of an entry with the same name.
    private func find(
        name: Span<UInt8>, nameHash: UInt32, value: Span<UInt8>, fieldHash: UInt32
    ) -> (field: Int?, name: Int?) {
        var nameIndex: Int?
        for place in 0..<table.count {
            let entry = table[place]
            guard entry.nameHash == nameHash else { continue }
            let start = table.range(of: entry).lowerBound
            let bytes = table.bytes.span
            guard HPACKHash.areEqual(name, bytes, from: start, count: entry.nameCount) else { continue }
            let index = HPACKStaticTable.count + 1 + place
            if entry.fieldHash == fieldHash,
                HPACKHash.areEqual(value, bytes, from: start + entry.nameCount, count: entry.valueCount)
            {
                return (index, index)
            }
            nameIndex = nameIndex ?? index
        }
        return (nil, nameIndex)
    }

    private func appendLiteral(
        _ indexing: HPACKIndexing, name: Span<UInt8>, nameIndex: Int?, value: Span<UInt8>, to bytes: inout [UInt8]
    ) {
        let prefix: UInt8 = indexing == .incremental ? 6 : 4
        HPACKInteger.append(nameIndex ?? 0, prefix: prefix, pattern: indexing.rawValue, to: &bytes)
        if nameIndex == nil { appendString(name, to: &bytes) }
        appendString(value, to: &bytes)
    }

    /// Appends a string in its shorter encoding (RFC 7541 §5.2).
    private func appendString(_ string: Span<UInt8>, to bytes: inout [UInt8]) {
        let code = HuffmanCode.shared
        let count = usesHuffman ? code.encodedCount(string) : string.count
        if count < string.count {
            HPACKInteger.append(count, prefix: 7, pattern: 0x80, to: &bytes)
            code.encode(string, to: &bytes)
        } else {
            HPACKInteger.append(string.count, prefix: 7, pattern: 0, to: &bytes)
            append(string, to: &bytes)
        }
    }

    private func append(_ string: Span<UInt8>, to bytes: inout [UInt8]) {
        unsafe string.withUnsafeBufferPointer { source in unsafe bytes.append(contentsOf: source) }
    }

    private func isUpperCase(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }
}
