internal import CausewayWire
internal import Foundation

/// Cached responses in memory, the most recently used ones up to a number of bytes.
struct MemoryCache: Sendable {
    /// What a response is found by: the method and the URL without its fragment (RFC 9111 §4).
    struct Key: Hashable, Sendable {
        private var method: String
        private var url: String

        /// Creates the key of a request. Returns `nil` for a request without URL.
        init?(_ request: URLRequest) {
            guard let absolute = request.url?.absoluteString else { return nil }
            method = request.httpMethod ?? "GET"
            url = String(absolute.prefix { $0 != "#" })
        }
    }

    private struct Entry {
        var response: CachedURLResponse
        var cost: Int
        var stored: Date
        var lastUse: Int
    }

    /// Bytes counted for an entry besides its content and its fields, so that empty responses have a cost.
    static let overhead = 64

    private var entries: [Key: Entry] = [:]
    /// Keys in the order of use. A record is outdated if its entry was used later.
    private var uses: [(key: Key, use: Int)] = []
    private var oldest = 0
    private var useCount = 0
    /// The bytes of all entries.
    private(set) var usage = 0
    /// The maximum of ``usage``. A smaller value evicts entries.
    var capacity: Int {
        didSet { evict() }
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Returns a response and marks it as used.
    mutating func response(for key: Key) -> CachedURLResponse? {
        guard let entry = entries[key] else { return nil }
        noteUse(of: key)
        return entry.response
    }

    /// Stores a response if it fits. A response that does not fit removes the one before.
    mutating func store(_ response: CachedURLResponse, for key: Key, at now: Date) {
        remove(key)
        let fields = (response.response as? HTTPURLResponse)?.fields.byteCount ?? 0
        let cost = response.data.count + fields + Self.overhead
        guard cost <= capacity else { return }
        entries[key] = Entry(response: response, cost: cost, stored: now, lastUse: 0)
        usage += cost
        noteUse(of: key)
        evict()
    }

    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { usage -= entry.cost }
    }

    mutating func removeAll() {
        self = MemoryCache(capacity: capacity)
    }

    /// Removes the responses that were stored after a date.
    mutating func removeAll(since date: Date) {
        for (key, entry) in entries where entry.stored > date { remove(key) }
    }

    private mutating func noteUse(of key: Key) {
        useCount += 1
        entries[key]?.lastUse = useCount
        uses.append((key, useCount))
        guard uses.count > 2 * entries.count + 64 else { return }
        uses = uses[oldest...].filter { entries[$0.key]?.lastUse == $0.use }
        oldest = 0
    }

    private mutating func evict() {
        while usage > capacity, oldest < uses.count {
            let record = uses[oldest]
            oldest += 1
            if entries[record.key]?.lastUse == record.use { remove(record.key) }
        }
    }
}
