internal import CausewaySystem
internal import CausewayWire

/// What is known about the files of a disk cache, so that a request without stored response needs no system call.
///
/// A file is named by a hash value of its key and the number of a slot: responses of one URL that differ in the fields that `Vary` lists
/// have different slots.
struct DiskIndex: Sendable {
    /// A file.
    struct Record: Sendable {
        var size: Int
        var lastUse: Int
    }

    /// Larger sizes count as this one, so that the sum cannot overflow: a sparse file can have any size.
    private static let maximumSize = 1 << 40

    private var slots: [UInt64: [Int: Record]] = [:]
    private var useCount = 0
    /// The number of bytes of all files.
    private(set) var usage = 0

    /// Creates an index of files, of which the last changed count as used last. Other files are ignored.
    init(_ entries: [PrivateDirectory.Entry]) {
        for entry in entries.sorted(by: { $0.changed < $1.changed }) {
            if let (hash, slot) = Self.parse(entry.name) { note(hash, slot, size: entry.size) }
        }
    }

    /// Returns the slots of a key, in ascending order.
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

    /// Removes the files that were not used for the longest time until at most `capacity` bytes remain. Returns their names.
    mutating func evict(to capacity: Int) -> [String] {
        guard usage > capacity else { return [] }
        // Some room is made, so that not each new file evicts another one.
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

    /// Returns the hash value of a key (FNV-1a). Different keys with the same value displace each other: a file holds its key.
    static func hash(_ key: MemoryCache.Key) -> UInt64 { FNV1a.hash64(key.text.utf8) }

    static func name(_ hash: UInt64, _ slot: Int) -> String {
        "\(Hexadecimal.text(hash)).\(slot)"
    }

    /// Returns the hash value and the slot of a file name; `nil` for other names.
    static func parse(_ name: String) -> (hash: UInt64, slot: Int)? {
        guard name.utf8.count == 18, let hash = UInt64(name.prefix(16), radix: 16),
            let slot = Int(name.suffix(1)), slot < CacheEntry.maximumVariants, self.name(hash, slot) == name
        else { return nil }
        return (hash, slot)
    }
}
