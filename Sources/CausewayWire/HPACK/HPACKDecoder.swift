/// A decoded field block.
package struct HPACKFieldBlock: Sendable, Equatable {
    /// The pseudo-header fields (RFC 9113 §8.3): the first fields in the block, whose names begin with a colon.
    package var controlData = FieldSection()
    /// All fields except the pseudo-header fields, in order. If the block exceeds a limit, both this section and
    /// ``controlData`` are empty.
    package var fields = FieldSection()
    /// Whether the fields exceed a decoder limit. The dynamic table was updated nevertheless, so later blocks can still
    /// be decoded.
    package var exceedsLimit = false

    package init() {}
}

/// Decodes the field blocks in one direction of a connection (RFC 7541 §3, §2.2).
///
/// Blocks must be decoded in the order in which they arrive, because each can change the dynamic table. After an error the table is no
/// longer usable, and the connection must be ended (RFC 9113 §4.3).
package struct HPACKDecoder: Sendable {
    /// The limits for one decoded block.
    package struct Limits: Sendable {
        /// The maximum total field size in bytes. Each field counts with an overhead of 32 bytes (RFC 9113 §6.5.2).
        package var listSize = 64 << 10
        package var fieldCount = 1000

        package init() {}
    }

    /// The dynamic table's size limit in bytes, before the SETTINGS_HEADER_TABLE_SIZE setting changes it (RFC 9113
    /// §6.5.2).
    package static let defaultTableSize = 4096

    package var limits: Limits
    private var table = HPACKDynamicTable(capacity: defaultTableSize)
    /// The maximum table size that the encoder may choose (RFC 7541 §7.3).
    private var maximumTableSize = defaultTableSize
    /// Whether the next block must start with a size update, because the maximum was reduced below the table size in use.
    private var expectsSizeUpdate = false
    /// A buffer for one decoded Huffman string.
    private var scratch: [UInt8] = []

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The dynamic table's entry count.
    package var tableCount: Int { table.count }
    /// The dynamic table's size: the sum of its entry sizes (RFC 7541 §4.1).
    package var tableSize: Int { table.size }

    /// Sets the dynamic table's maximum size (`SETTINGS_HEADER_TABLE_SIZE`). Reduce the size only when the peer has
    /// acknowledged the SETTINGS frame that contains the new value (RFC 7541 §4.2).
    package mutating func setMaximumTableSize(_ size: Int) {
        maximumTableSize = max(0, size)
        expectsSizeUpdate = maximumTableSize < table.capacity
    }

    /// Decodes one complete field block (RFC 7541 §3.1).
    ///
    /// - Throws: ``WireError`` with the position in the block. Such an error is a connection error (RFC 9113 §4.3).
    package mutating func decode(_ bytes: Span<UInt8>) throws(WireError) -> HPACKFieldBlock {
        var output = Output()
        output.block.reserveCapacity(bytes.count * 2)
        output.entries.reserveCapacity(16)
        var offset = 0
        var allowsSizeUpdate = true
        while offset < bytes.count {
            let first = bytes[offset]
            if first & 0xE0 == 0x20 {
                guard allowsSizeUpdate else { throw .invalid("table size update after a field", at: offset) }
                try updateSize(bytes, &offset)
                continue
            }
            guard !expectsSizeUpdate else { throw .invalid("block without the required table size update", at: offset) }
            allowsSizeUpdate = false
            try decodeField(bytes, &offset, first, into: &output)
        }
        var decoded = HPACKFieldBlock()
        decoded.exceedsLimit = output.exceedsLimit
        guard !output.exceedsLimit else { return decoded }
        if !output.control.isEmpty {
            decoded.controlData = FieldSection(block: output.block, entries: output.control)
        }
        if !output.entries.isEmpty { decoded.fields = FieldSection(block: output.block, entries: output.entries) }
        return decoded
    }

    private mutating func updateSize(_ bytes: Span<UInt8>, _ offset: inout Int) throws(WireError) {
        let start = offset
        let size = try HPACKInteger.read(bytes, at: &offset, prefix: 5)
        guard size <= maximumTableSize else { throw .invalid("table size", at: start) }
        table.setCapacity(size)
        expectsSizeUpdate = false
    }

    /// Decodes one field line (RFC 7541 §6.1, §6.2).
    private mutating func decodeField(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ first: UInt8, into output: inout Output
    ) throws(WireError) {
        let start = output.block.count
        let isIndexed = first & 0x80 != 0
        let adds = !isIndexed && first & 0x40 != 0
        let position = offset
        let index = try HPACKInteger.read(bytes, at: &offset, prefix: isIndexed ? 7 : adds ? 6 : 4)
        guard !isIndexed || index > 0 else { throw .invalid("index", at: position) }
        var nameCount = 0
        if index > 0 {
            nameCount = try appendEntry(index, withValue: isIndexed, to: &output.block, at: position)
        } else {
            try appendString(bytes, &offset, to: &output.block)
            nameCount = output.block.count - start
        }
        if !isIndexed { try appendString(bytes, &offset, to: &output.block) }
        if adds { table.insert(output.block[start...], nameCount: nameCount) }
        output.endField(start: start, nameCount: nameCount, limits)
    }

    /// Appends the name of a static or dynamic table entry to `block`. If `withValue` is true, also appends the value
    /// (RFC 7541 §2.3.3). Returns the name's length.
    private func appendEntry(
        _ index: Int, withValue: Bool, to block: inout [UInt8], at position: Int
    ) throws(WireError) -> Int {
        if index <= HPACKStaticTable.count {
            let table = HPACKStaticTable.shared
            let entry = table.entries[index - 1]
            let count = withValue ? entry.nameCount + entry.valueCount : entry.nameCount
            block.append(contentsOf: table.bytes[entry.start..<entry.start + count])
            return entry.nameCount
        }
        let place = index - HPACKStaticTable.count - 1
        guard place < table.count else { throw .invalid("index", at: position) }
        let entry = table[place]
        let range = table.range(of: entry)
        let end = withValue ? range.upperBound : range.lowerBound + entry.nameCount
        block.append(contentsOf: table.bytes[range.lowerBound..<end])
        return entry.nameCount
    }

    /// Reads a string at `offset` and appends its bytes to `block` (RFC 7541 §5.2).
    private mutating func appendString(
        _ bytes: Span<UInt8>, _ offset: inout Int, to block: inout [UInt8]
    ) throws(WireError) {
        guard offset < bytes.count else { throw .truncated(needed: 1, available: 0, at: offset) }
        let isHuffman = bytes[offset] & 0x80 != 0
        let count = try HPACKInteger.read(bytes, at: &offset, prefix: 7)
        let start = offset
        guard count <= bytes.count - start else {
            throw .truncated(needed: count, available: bytes.count - start, at: start)
        }
        offset += count
        guard isHuffman else {
            // The preceding guard has checked that the string lies inside the block.
            let part = bytes.extracting(start..<offset)
            return unsafe part.withUnsafeBufferPointer { source in unsafe block.append(contentsOf: source) }
        }
        let needed = HuffmanCode.maximumDecodedCount(count)
        if scratch.count < needed { scratch = [UInt8](repeating: 0, count: max(256, needed)) }
        var output = scratch.mutableSpan
        let decoded = try HuffmanCode.shared.decode(bytes, start..<offset, into: &output)
        block.append(contentsOf: scratch[..<decoded])
    }
}

extension HPACKDecoder {
    /// The fields decoded so far.
    private struct Output {
        var block: [UInt8] = []
        var control: [FieldSection.Entry] = []
        var entries: [FieldSection.Entry] = []
        var listSize = 0
        var exceedsLimit = false

        /// Ends the field whose bytes are at the end of the output. If the fields exceed a size or count limit,
        /// discards this field and all later fields. Otherwise a small block could fill the memory with many references
        /// to one large table entry.
        mutating func endField(start: Int, nameCount: Int, _ limits: Limits) {
            listSize += block.count - start + HPACKDynamicTable.overhead
            exceedsLimit =
                exceedsLimit || listSize > limits.listSize || control.count + entries.count >= limits.fieldCount
            guard !exceedsLimit else { return block.removeSubrange(start...) }
            let entry = FieldSection.Entry(
                nameStart: UInt32(start), nameCount: UInt32(nameCount), valueStart: UInt32(start + nameCount),
                valueCount: UInt32(block.count - start - nameCount))
            if entries.isEmpty, nameCount > 0, block[start] == UInt8(ascii: ":") {
                control.append(entry)
            } else {
                entries.append(entry)
            }
        }
    }
}
