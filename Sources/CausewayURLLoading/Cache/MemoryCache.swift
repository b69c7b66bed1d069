internal import CausewayWire
internal import Foundation

/// An in-memory cache of responses with a size limit. The least recently used responses are evicted first.
struct MemoryCache: Sendable {
    /// The cache key of a response: the method and the URL without its fragment (RFC 9111 §4).
    struct Key: Hashable, Sendable {
        /// The text of the key: the method, a space and the URL.
        let text: String
        /// The hash value. It is stored because a request looks up its key several times.
        private let hash: Int

        /// Creates a request's key. Returns `nil` if the request has no URL.
        init?(_ request: URLRequest) {
            guard let absolute = request.url?.absoluteString else { return nil }
            self.init(method: request.httpMethod ?? "GET", url: absolute)
        }

        init(method: String, url: String) {
            let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
            text = "\(method) \(url[..<end])"
            hash = text.hashValue
        }

        static func == (one: Key, other: Key) -> Bool { one.hash == other.hash && one.text == other.text }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    private struct Slot {
        var entries: [CacheEntry]
        var cost: Int
        var lastUse: Int
    }

    /// The fixed cost of an entry in bytes. It is added to the cost of the content and the header fields, so that empty
    /// responses also have a cost.
    static let overhead = 64

    private var slots: [Key: Slot] = [:]
    /// The uses of keys, in order. An entry is outdated if its key was used again later.
    private var uses: [(key: Key, use: Int)] = []
    private var oldest = 0
    private var useCount = 0
    /// The number of removals. A lookup in files compares the number before and after reading, so that it does not
    /// restore removed entries.
    private(set) var changeCount = 0
    /// The total cost of all entries in bytes.
    private(set) var usage = 0
    /// The maximum of ``usage`` in bytes. Setting a smaller value evicts entries.
    var capacity: Int {
        didSet { evict() }
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Whether there are no entries.
    var isEmpty: Bool { slots.isEmpty }

    /// Returns the entries for a key and marks them as used.
    mutating func entries(for key: Key) -> [CacheEntry] {
        guard let place = slots.index(forKey: key) else { return [] }
        noteUse(of: key, at: place)
        return slots.values[place].entries
    }

    /// Whether there are entries for a key.
    func contains(_ key: Key) -> Bool { slots[key] != nil }

    /// Stores an entry if it fits. Removes the entries that it replaces, even if the entry itself does not fit.
    mutating func store(_ entry: CacheEntry, for key: Key) {
        if replaceOnly(key, by: entry) { return }
        let old = slots[key]?.entries ?? []
        drop(key)
        let isFitting = entry.cost <= capacity
        let entries = isFitting ? entry.added(to: old) : old.filter { !entry.replaces($0) }
        guard !entries.isEmpty else { return }
        let cost = entries.reduce(0) { $0 + $1.cost }
        slots[key] = Slot(entries: entries, cost: cost, lastUse: 0)
        usage += cost
        if let place = slots.index(forKey: key) { noteUse(of: key, at: place) }
        evict()
    }

    /// Replaces all stored entries of a URL by one entry. This entry answers every request to the URL.
    ///
    /// Returns `false` and changes nothing in three cases: the entry answers only some requests, the entry is larger
    /// than the capacity, or the URL has no stored entries.
    private mutating func replaceOnly(_ key: Key, by entry: CacheEntry) -> Bool {
        let cost = entry.cost
        guard let head = entry.head, head.selecting.isEmpty, head.part == nil, cost <= capacity,
            let place = slots.index(forKey: key)
        else { return false }
        usage += cost - slots.values[place].cost
        if slots.values[place].entries.count == 1 {
            slots.values[place].entries[0] = entry
        } else {
            slots.values[place].entries = [entry]
        }
        slots.values[place].cost = cost
        noteUse(of: key, at: place)
        evict()
        return true
    }

    mutating func remove(_ key: Key) {
        changeCount += 1
        drop(key)
    }

    private mutating func drop(_ key: Key) {
        if let slot = slots.removeValue(forKey: key) { usage -= slot.cost }
    }

    mutating func removeAll() {
        let count = changeCount + 1
        self = MemoryCache(capacity: capacity)
        changeCount = count
    }

    /// Removes responses stored after a date.
    mutating func removeAll(since date: Date) {
        for (key, slot) in slots where slot.entries.contains(where: { $0.stored > date }) {
            let kept = slot.entries.filter { $0.stored <= date }
            remove(key)
            for entry in kept { store(entry, for: key) }
        }
    }

    private mutating func noteUse(of key: Key, at place: Dictionary<Key, Slot>.Index) {
        useCount += 1
        slots.values[place].lastUse = useCount
        // Programs often load one URL repeatedly. So consecutive uses of the same key share one element of `uses`.
        guard oldest == uses.count || uses[uses.count - 1].key != key else {
            return uses[uses.count - 1].use = useCount
        }
        uses.append((key, useCount))
        guard uses.count > 2 * slots.count + 64 else { return }
        uses = uses[oldest...].filter { slots[$0.key]?.lastUse == $0.use }
        oldest = 0
    }

    private mutating func evict() {
        while usage > capacity, oldest < uses.count {
            let record = uses[oldest]
            oldest += 1
            if slots[record.key]?.lastUse == record.use { drop(record.key) }
        }
    }
}
