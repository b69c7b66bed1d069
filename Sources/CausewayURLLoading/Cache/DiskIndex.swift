internal import CausewaySystem
internal import CausewayWire

/// An in-memory index of a disk cache's files. With the index, a lookup without a stored response needs no system call.
///
/// A file name consists of the key's hash value and a slot number. Responses to one URL have different slots if their
/// requests differ in fields that `Vary` lists.
struct DiskIndex: Sendable {
    /// A file.
    struct Record: Sendable {
        var size: Int
        var lastUse: Int
    }

    /// The largest size that is counted for a file. A sparse file can have any size, and without this limit the sum
    /// could overflow.
    private static let maximumSize = 1 << 40

    private var slots: [UInt64: [Int: Record]] = [:]
    private var useCount = 0
    /// The total file size in bytes.
    private(set) var usage = 0

    /// Creates an index from directory entries. The modification time is used as the time of last use. Files without
    /// the name of a cache file are ignored.
    init(_ entries: [PrivateDirectory.Entry]) {
        for entry in entries.sorted(by: { $0.changed < $1.changed }) {
            if let (hash, slot) = Self.parse(entry.name) { note(hash, slot, size: entry.size) }
        }
    }

    /// Returns a key's slots in ascending order.
    func slots(of hash: UInt64) -> [Int] { slots[hash].map { $0.keys.sorted() } ?? [] }

    func contains(_ hash: UInt64) -> Bool { slots[hash] != nil }

    /// Records that a file was written.
    mutating func note(_ hash: UInt64, _ slot: Int, size: Int) {
        remove(hash, slot)
        useCount += 1
        let size = min(size, Self.maximumSize)
        slots[hash, default: [:]][slot] = Record(size: size, lastUse: useCount)
        usage += size
    }

    /// Records that a file was used.
    mutating func noteUse(_ hash: UInt64, _ slot: Int) {
        useCount += 1
        slots[hash]?[slot]?.lastUse = useCount
    }

    mutating func remove(_ hash: UInt64, _ slot: Int) {
        guard let record = slots[hash]?.removeValue(forKey: slot) else { return }
        usage -= record.size
        if slots[hash]?.isEmpty == true { slots[hash] = nil }
    }

    /// Removes the least recently used files until at most `capacity` bytes remain. Returns their names.
    mutating func evict(to capacity: Int) -> [String] {
        guard usage > capacity else { return [] }
        // Evict files until 10 % of the capacity is free. Otherwise each of the next new files could cause another
        // eviction.
        let goal = capacity / 10 * 9
        var all: [(hash: UInt64, slot: Int, lastUse: Int)] = []
        for (hash, records) in slots {
            for (slot, record) in records { all.append((hash, slot, record.lastUse)) }
        }
        all.sort { $0.lastUse < $1.lastUse }
        var names: [String] = []
        for file in all {
            guard usage > goal else { break }
            remove(file.hash, file.slot)
            names.append(Self.name(file.hash, file.slot))
        }
        return names
    }

    // MARK: Names

    /// Returns the hash value of a key (FNV-1a). Keys with the same hash value replace each other's files. A file
    /// contains its key, so a lookup never returns the response of another key.
    static func hash(_ key: MemoryCache.Key) -> UInt64 { FNV1a.hash64(key.text.utf8) }

    static func name(_ hash: UInt64, _ slot: Int) -> String {
        "\(Hexadecimal.text(hash)).\(slot)"
    }

    /// Parses a file name into hash value and slot; `nil` for other names.
    static func parse(_ name: String) -> (hash: UInt64, slot: Int)? {
        guard name.utf8.count == 18, let hash = UInt64(name.prefix(16), radix: 16),
            let slot = Int(name.suffix(1)), slot < CacheEntry.maximumVariants, self.name(hash, slot) == name
        else { return nil }
        return (hash, slot)
    }
}
