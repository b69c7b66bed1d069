internal import Foundation

/// The changes of a disk cache that wait to be written. Together they hold a limited number of bytes: what a slow disk cannot keep up with is
/// not stored.
struct DiskChanges: Sendable {
    /// A change of the files of one key.
    struct Change: Sendable {
        /// Whether the files of the key are removed first.
        var removesFiles: Bool
        var entries: [CacheEntry]

        fileprivate var cost: Int { entries.reduce(0) { $0 + $1.cost } }

        /// Whether this is the same change: no entry was added or replaced.
        fileprivate func isSame(as other: Change) -> Bool {
            removesFiles == other.removesFiles && entries.count == other.entries.count
                && zip(entries, other.entries).allSatisfy { $0.response === $1.response && $0.stored == $1.stored }
        }
    }

    /// The maximum number of bytes of all changes, unless there is only one.
    static let limit = 16 << 20

    private var changes: [MemoryCache.Key: Change] = [:]
    private var cost = 0

    var isEmpty: Bool { changes.isEmpty }
    var keys: [MemoryCache.Key] { Array(changes.keys) }

    subscript(key: MemoryCache.Key) -> Change? { changes[key] }

    /// Notes that an entry is to be stored.
    mutating func store(_ entry: CacheEntry, for key: MemoryCache.Key) {
        let old = changes[key]
        let new = Change(removesFiles: old?.removesFiles ?? false, entries: entry.added(to: old?.entries ?? []))
        let others = cost - (old?.cost ?? 0)
        guard others == 0 || others + new.cost <= Self.limit else { return remove(key) }
        set(new, for: key)
    }

    /// Notes that the files of a key are to be removed.
    mutating func remove(_ key: MemoryCache.Key) { set(Change(removesFiles: true, entries: []), for: key) }

    /// Forgets a change that was written. One that came meanwhile stays.
    mutating func wrote(_ change: Change, for key: MemoryCache.Key) {
        if changes[key]?.isSame(as: change) == true { set(nil, for: key) }
    }

    mutating func removeAll() { self = DiskChanges() }

    private mutating func set(_ change: Change?, for key: MemoryCache.Key) {
        cost += (change?.cost ?? 0) - (changes[key]?.cost ?? 0)
        changes[key] = change
    }
}
