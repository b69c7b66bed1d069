internal import CausewayWire
internal import Foundation

/// An in-memory cache of responses with a size limit. The least recently used responses are evicted first.
struct MemoryCache: Sendable {
    /// The cache key of a response: the method and the URL without its fragment (RFC 9111 §4).
    struct Key: Hashable, Sendable {
        private var method: String
        private var url: String

        /// Creates the key of a request. Returns `nil` if the request has no URL.
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

    /// The fixed cost of an entry in bytes, added to the size of its content and header fields, so that empty responses also have a cost.
    static let overhead = 64

    private var entries: [Key: Entry] = [:]
    /// Keys in order of use. A record is outdated if its entry has been used again since.
    private var uses: [(key: Key, use: Int)] = []
    private var oldest = 0
    private var useCount = 0
    /// The total cost of all entries in bytes.
    private(set) var usage = 0
    /// The maximum of ``usage`` in bytes. Setting a smaller value evicts entries.
    var capacity: Int {
        didSet { evict() }
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Returns the response for a key and marks it as used.
    mutating func response(for key: Key) -> CachedURLResponse? {
        guard let entry = entries[key] else { return nil }
        noteUse(of: key)
        return entry.response
    }

    /// Stores a response if it fits, replacing the previous one. If it does not fit, the previous response is removed all the same.
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
