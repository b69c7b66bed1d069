internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension URLCache {
    /// Whether this object is exactly a ``URLCache``.
    ///
    /// An object of a program's subclass may override the public methods, so these must be called for it.
    var isPlain: Bool { type(of: self) == URLCache.self }

    /// Returns a request's header fields, together with the fields that a session adds to every request.
    static func fields(of request: URLRequest) -> FieldSection {
        var fields = request.values.unfoldedFields
        DefaultFields.addMissing(to: &fields, isSecure: request.url?.scheme?.lowercased() == "https")
        return fields
    }

    /// Whether a key has no entry, as far as this process knows. The check needs no system call.
    func isKnownToLack(_ key: MemoryCache.Key) -> Bool {
        !memory.withLock({ $0.contains(key) }) && disk.isKnownToLack(key)
    }

    /// Returns a key's entries in memory.
    func memoryEntries(for key: MemoryCache.Key) -> [CacheEntry] { memory.withLock { $0.entries(for: key) } }

    /// Reads a key's entries from files. The closure is called on a queue that must not be blocked.
    func readFiles(of key: MemoryCache.Key, then: @escaping @Sendable ([CacheEntry]) -> Void) {
        let changes = memory.withLock { $0.changeCount }
        disk.read(key) { [self] entries in
            keep(entries, for: key, unlessChangedSince: changes)
            then(entries)
        }
    }

    /// The maximum content size of one stored response in bytes: 5 % of the memory capacity or of the disk capacity,
    /// whichever is larger.
    var maximumContentSize: Int { max(memoryCapacity, diskCapacity) / 20 }

    /// Adds entries that were read from files to the memory cache. Does nothing if the memory cache already has entries
    /// for the key, or if entries were removed while the files were read.
    func keep(_ entries: [CacheEntry], for key: MemoryCache.Key, unlessChangedSince changes: Int) {
        guard !entries.isEmpty else { return }
        memory.withLock { memory in
            guard !memory.contains(key), memory.changeCount == changes else { return }
            for entry in entries { memory.store(entry, for: key) }
        }
    }

    /// Stores a response, if the storage policy allows this and the response fits. `exchange` contains the request's
    /// fields and the times of the request and the response.
    func store(_ cached: CachedURLResponse, for request: URLRequest, _ exchange: CacheExchange) {
        guard let key = exchange.key ?? MemoryCache.Key(request), cached.storagePolicy != .notAllowed,
            let entry = CacheEntry(cached, exchange: exchange, at: Date())
        else { return }
        store(entry, for: key)
    }

    /// Stores an entry in the cache. If the entry is partial, it is first combined with the partial entries for the
    /// same URL in the memory cache.
    func store(_ entry: CacheEntry, for key: MemoryCache.Key) {
        let limit = entry.isPartial ? maximumContentSize : 0
        let entry = memory.withLock { memory in
            let entry = entry.isPartial ? entry.combined(with: memory.entries(for: key), limit: limit) : entry
            memory.store(entry, for: key)
            return entry
        }
        if entry.response.storagePolicy == .allowed {
            disk.store(entry, for: key)
        } else if !disk.isKnownToLack(key) {
            disk.remove(key)
        }
    }

    /// Removes all entries for a key.
    func remove(_ key: MemoryCache.Key) {
        memory.withLock { $0.remove(key) }
        if !disk.isKnownToLack(key) { disk.remove(key) }
    }
}
