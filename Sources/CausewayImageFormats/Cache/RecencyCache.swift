/// The limits for a cache of images.
public struct ImageCacheLimits: Hashable, Sendable {
    /// The maximum total size in bytes; 0 to keep nothing.
    public var cost: Int
    /// The maximum number of images.
    public var count: Int
    /// The age at which an image is removed; `nil` for no limit.
    public var age: Duration?

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - cost: The maximum total size in bytes. The default is 64 MiB.
    ///   - count: The maximum number of images. The default is 10.
    ///   - age: The age at which an image is removed.
    public init(cost: Int = 64 * 1024 * 1024, count: Int = 10, age: Duration? = nil) {
        self.cost = max(cost, 0)
        self.count = max(count, 0)
        self.age = age
    }
}

/// A least-recently-used (LRU) cache. It reads no clock: the caller passes all times, measured from one fixed instant
/// of its choice.
package struct RecencyCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var cost: Int
        var stored: Duration
        var use: UInt64
    }

    package private(set) var limits: ImageCacheLimits
    /// The total size of all entries in bytes.
    package private(set) var cost = 0
    private var entries: [Key: Entry] = [:]
    /// The uses of keys, in chronological order. If a key occurs several times, only its latest use is valid.
    private var uses: [(key: Key, use: UInt64)] = []
    private var firstUse = 0
    private var lastUse: UInt64 = 0

    package init(limits: ImageCacheLimits) { self.limits = limits }

    /// The number of entries.
    package var count: Int { entries.count }

    /// The keys, in no order.
    package var keys: some Collection<Key> { entries.keys }

    /// Returns a value and records the use. Removes an expired value.
    package mutating func value(for key: Key, now: Duration) -> Value? {
        guard let entry = entries[key] else { return nil }
        if let age = limits.age, now - entry.stored > age {
            remove(key)
            return nil
        }
        noteUse(of: key)
        return entry.value
    }

    /// Stores a value and removes others until the cache is within its limits.
    ///
    /// - Returns: The keys that were removed. If the new entry alone exceeds the limits, it is not stored, and its key
    ///   is returned.
    @discardableResult
    package mutating func store(_ value: Value, for key: Key, cost: Int, stored: Duration) -> [Key] {
        remove(key)
        guard cost <= limits.cost, limits.count > 0 else { return [key] }
        entries[key] = Entry(value: value, cost: cost, stored: stored, use: 0)
        self.cost += cost
        noteUse(of: key)
        return shrink()
    }

    /// Removes a value.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        cost -= entry.cost
        return entry.value
    }

    /// Removes all values.
    package mutating func removeAll() {
        entries = [:]
        uses = []
        (cost, firstUse) = (0, 0)
    }

    /// Removes expired values.
    ///
    /// - Returns: The keys that were removed.
    package mutating func expire(now: Duration) -> [Key] {
        guard let age = limits.age else { return [] }
        let old = entries.filter { now - $0.value.stored > age }.map(\.key)
        for key in old { remove(key) }
        return old
    }

    private mutating func shrink() -> [Key] {
        var removed: [Key] = []
        while cost > limits.cost || entries.count > limits.count, firstUse < uses.count {
            let (key, use) = uses[firstUse]
            firstUse += 1
            guard entries[key]?.use == use else { continue }
            remove(key)
            removed.append(key)
        }
        return removed
    }

    private mutating func noteUse(of key: Key) {
        lastUse += 1
        entries[key]?.use = lastUse
        uses.append((key, lastUse))
        guard uses.count > 64, uses.count > 4 * entries.count else { return }
        uses = uses[firstUse...].filter { entries[$0.key]?.use == $0.use }
        firstUse = 0
    }
}
