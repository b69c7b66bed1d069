internal import CausewaySystem
public import Foundation

/// A cache of responses.
///
/// Responses are kept in memory, least recently used ones are removed first. The disk half is not implemented: ``diskCapacity`` is kept
/// as a setting, and nothing is written.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the entries and the settings are behind a lock. Subclasses of programs answer for their own properties.
@preconcurrency open class URLCache: NSObject, @unchecked Sendable {
    /// Where a response may be stored.
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on disk.
        case allowed = 0
        /// In memory only.
        case allowedInMemoryOnly = 1
        /// Nowhere.
        case notAllowed = 2
    }

    private struct Storage {
        var memory: MemoryCache
        var diskCapacity: Int
    }

    private static let current = LockedValue<URLCache?>(nil)
    private let storage: LockedValue<Storage>

    /// The cache of the process. At first 4 MiB in memory and 20 MiB on disk.
    open class var shared: URLCache {
        get {
            current.withLock { current in
                if let current { return current }
                let made = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20, diskPath: nil)
                current = made
                return made
            }
        }
        set { current.withLock { $0 = newValue } }
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: Bytes in memory; 0 switches this half off.
    ///   - diskCapacity: Bytes on disk; 0 switches this half off.
    ///   - path: The folder on disk.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        storage = LockedValue(
            Storage(memory: MemoryCache(capacity: memoryCapacity), diskCapacity: diskCapacity))
        super.init()
    }

    /// Creates a cache. macOS 10.15, iOS 13.
    ///
    /// - Parameters:
    ///   - memoryCapacity: Bytes in memory; 0 switches this half off.
    ///   - diskCapacity: Bytes on disk; 0 switches this half off.
    ///   - directory: The folder on disk; `nil` for the default place.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Returns the stored response to a request.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = MemoryCache.Key(request) else { return nil }
        return storage.withLock { $0.memory.response(for: key) }
    }

    /// Stores a response if its policy allows and it fits.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = MemoryCache.Key(request), cachedResponse.storagePolicy != .notAllowed else { return }
        let now = Date()
        storage.withLock { $0.memory.store(cachedResponse, for: key, at: now) }
    }

    /// Removes the stored response to a request.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = MemoryCache.Key(request) else { return }
        storage.withLock { $0.memory.remove(key) }
    }

    /// Removes all responses.
    open func removeAllCachedResponses() { storage.withLock { $0.memory.removeAll() } }

    /// Removes the responses that were stored after a date. macOS 10.10, iOS 8.
    open func removeCachedResponses(since date: Date) { storage.withLock { $0.memory.removeAll(since: date) } }

    /// The maximum number of bytes in memory. A smaller value removes responses at once.
    open var memoryCapacity: Int {
        get { storage.withLock { $0.memory.capacity } }
        set { storage.withLock { $0.memory.capacity = newValue } }
    }

    /// The maximum number of bytes on disk.
    open var diskCapacity: Int {
        get { storage.withLock { $0.diskCapacity } }
        set { storage.withLock { $0.diskCapacity = newValue } }
    }

    /// The number of bytes in memory.
    open var currentMemoryUsage: Int { storage.withLock { $0.memory.usage } }

    /// The number of bytes on disk.
    open var currentDiskUsage: Int { 0 }

    /// Stores the response to a task. macOS 10.10, iOS 8.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Passes the stored response to a task's request to a handler. macOS 10.10, iOS 8.
    open func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) })
    }

    /// Returns the stored response to a task's request. macOS 10.15, iOS 13.
    open func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await withCheckedContinuation { continuation in
            getCachedResponse(for: dataTask) { continuation.resume(returning: $0) }
        }
    }

    /// Removes the stored response to a task's request. macOS 10.10, iOS 8.
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }
}
