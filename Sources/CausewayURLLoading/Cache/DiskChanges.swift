internal import Foundation

/// Changes that a disk cache must still write. Their total size is limited. If the disk is too slow, responses are
/// dropped.
struct DiskChanges: Sendable {
    /// A change to the cache files for one key.
    struct Change: Sendable {
        /// Whether to remove the existing files of the key before `entries` are written.
        var removesFiles: Bool
        var entries: [CacheEntry]

        fileprivate var cost: Int { entries.reduce(0) { $0 + $1.cost } }

        /// Returns whether two copies of a change are still the same. They differ if an entry was added or replaced
        /// since one of them was copied.
        fileprivate func isSame(as other: Change) -> Bool {
            removesFiles == other.removesFiles && entries.count == other.entries.count
                && zip(entries, other.entries).allSatisfy { $0.response === $1.response && $0.stored == $1.stored }
        }
    }

    /// The maximum total size of all pending changes in bytes. A single pending change may be larger.
    static let limit = 16 << 20

    private var changes: [MemoryCache.Key: Change] = [:]
    private var cost = 0

    var isEmpty: Bool { changes.isEmpty }
    var keys: [MemoryCache.Key] { Array(changes.keys) }

    subscript(key: MemoryCache.Key) -> Change? { changes[key] }

    /// Records that a cache entry must be written to disk.
    mutating func store(_ entry: CacheEntry, for key: MemoryCache.Key) {
        let old = changes[key]
        let new = Change(removesFiles: old?.removesFiles ?? false, entries: entry.added(to: old?.entries ?? []))
        let others = cost - (old?.cost ?? 0)
        guard others == 0 || others + new.cost <= Self.limit else { return remove(key) }
        set(new, for: key)
    }

    /// Records that the files of a key must be removed.
    mutating func remove(_ key: MemoryCache.Key) { set(Change(removesFiles: true, entries: []), for: key) }

    /// Forgets a change after it was written. A newer change to the same key stays.
    mutating func wrote(_ change: Change, for key: MemoryCache.Key) {
        if changes[key]?.isSame(as: change) == true { set(nil, for: key) }
    }

    mutating func removeAll() { self = DiskChanges() }

    private mutating func set(_ change: Change?, for key: MemoryCache.Key) {
        cost += (change?.cost ?? 0) - (changes[key]?.cost ?? 0)
        changes[key] = change
    }
}
