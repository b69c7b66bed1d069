/// The dynamic table (RFC 7541 §2.3.2): the most recently added fields, up to a maximum size.
///
/// Entry records are stored in a ring buffer. All entry bytes are stored contiguously in one array, the oldest first.
/// Evicted bytes are removed when they occupy more than half the array, so each byte is moved about once.
struct HPACKDynamicTable: Sendable {
    /// The overhead in bytes that counts for each entry, in addition to its name and value (RFC 7541 §4.1).
    static let overhead = 32

    struct Entry: Sendable {
        /// The position of the entry's name. Positions count all bytes that were ever added to the table. The value
        /// follows the name.
        var start: Int
        var nameCount: Int
        var valueCount: Int
        /// The hashes for the name and the whole field, for the encoder; 0 in a decoder.
        var nameHash: UInt32
        var fieldHash: UInt32

        var size: Int { nameCount + valueCount + HPACKDynamicTable.overhead }
    }

    private var ring: [Entry] = []
    /// The newest entry's index in the ring buffer.
    private var newest = 0
    private(set) var count = 0
    /// The bytes of all entries. Bytes of evicted entries that are not yet removed come first.
    private(set) var bytes: [UInt8] = []
    /// The offset of the first byte in ``bytes``. An offset is the number of bytes that were added to the table before
    /// this byte, including removed ones.
    private var base = 0
    /// The sum of all entry sizes.
    private(set) var size = 0
    /// The maximum size. Entries are evicted when it is reduced.
    private(set) var capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// The entry at `index`, counted from 0 for the newest.
    subscript(index: Int) -> Entry {
        assert(index >= 0 && index < count)
        return ring[(newest - index) & (ring.count - 1)]
    }

    /// Returns the range of an entry's bytes in ``bytes``.
    func range(of entry: Entry) -> Range<Int> {
        let start = entry.start - base
        return start..<(start + entry.nameCount + entry.valueCount)
    }

    /// Changes the capacity, and evicts the oldest entries that no longer fit (RFC 7541 §4.3).
    mutating func setCapacity(_ capacity: Int) {
        self.capacity = capacity
        evict(downTo: capacity)
    }

    /// Adds a field, and evicts the oldest entries that no longer fit. A field that is larger than the capacity empties the table
    /// (RFC 7541 §4.4).
    mutating func insert(
        _ field: ArraySlice<UInt8>, nameCount: Int, nameHash: UInt32 = 0, fieldHash: UInt32 = 0
    ) {
        let entry = Entry(
            start: base + bytes.count, nameCount: nameCount, valueCount: field.count - nameCount, nameHash: nameHash,
            fieldHash: fieldHash)
        guard entry.size <= capacity else { return evict(downTo: 0) }
        evict(downTo: capacity - entry.size)
        compact()
        bytes.append(contentsOf: field)
        if count == ring.count { grow() }
        newest = (newest + 1) & (ring.count - 1)
        ring[newest] = entry
        count += 1
        size += entry.size
    }

    private mutating func evict(downTo limit: Int) {
        while size > limit, count > 0 {
            size -= self[count - 1].size
            count -= 1
        }
    }

    /// Removes evicted entries' bytes.
    private mutating func compact() {
        guard count > 0 else {
            base += bytes.count
            bytes.removeAll(keepingCapacity: true)
            return
        }
        let unused = self[count - 1].start - base
        guard unused > capacity else { return }
        bytes.removeSubrange(..<unused)
        base += unused
    }

    private mutating func grow() {
        let entries = (0..<count).reversed().map { self[$0] }
        let blank = Entry(start: 0, nameCount: 0, valueCount: 0, nameHash: 0, fieldHash: 0)
        ring = entries + [Entry](repeating: blank, count: max(16, count))
        newest = count - 1
        if count == 0 { newest = ring.count - 1 }
    }
}
