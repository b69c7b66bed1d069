internal import CausewaySystem
public import Foundation

/// A cache that maps requests to stored responses.
///
/// Responses are kept in memory, and the least recently used ones are evicted first. The disk cache is not implemented: ``diskCapacity``
/// only stores its value, and nothing is written to disk.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: a lock guards the entries and the settings. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLCache: NSObject, @unchecked Sendable {
    /// Where a response may be stored.
    public enum StoragePolicy: UInt, Sendable {
        /// The response may be stored in memory and on disk.
        case allowed = 0
        /// The response may be stored in memory only.
        case allowedInMemoryOnly = 1
        /// The response must not be stored.
        case notAllowed = 2
    }

    private struct Storage {
        var memory: MemoryCache
        var diskCapacity: Int
    }

    private static let current = LockedValue<URLCache?>(nil)
    private let storage: LockedValue<Storage>

    /// The shared cache of the process. Its initial capacity is 4 MiB in memory and 20 MiB on disk.
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
    ///   - memoryCapacity: The memory capacity in bytes; 0 disables the memory cache.
    ///   - diskCapacity: The disk capacity in bytes; 0 disables the disk cache.
    ///   - path: The directory of the disk cache.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        storage = LockedValue(
            Storage(memory: MemoryCache(capacity: memoryCapacity), diskCapacity: diskCapacity))
        super.init()
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The memory capacity in bytes; 0 disables the memory cache.
    ///   - diskCapacity: The disk capacity in bytes; 0 disables the disk cache.
    ///   - directory: The directory of the disk cache; `nil` for the default location.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Returns the stored response for a request.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = MemoryCache.Key(request) else { return nil }
        return storage.withLock { $0.memory.response(for: key) }
    }

    /// Stores a response if its storage policy allows it and it fits.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = MemoryCache.Key(request), cachedResponse.storagePolicy != .notAllowed else { return }
        let now = Date()
        storage.withLock { $0.memory.store(cachedResponse, for: key, at: now) }
    }

    /// Removes the stored response for a request.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = MemoryCache.Key(request) else { return }
        storage.withLock { $0.memory.remove(key) }
    }

    /// Removes all responses.
    open func removeAllCachedResponses() { storage.withLock { $0.memory.removeAll() } }

    /// Removes the responses that were stored after a date.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func removeCachedResponses(since date: Date) { storage.withLock { $0.memory.removeAll(since: date) } }

    /// The capacity of the memory cache in bytes. Setting a smaller value evicts responses immediately.
    open var memoryCapacity: Int {
        get { storage.withLock { $0.memory.capacity } }
        set { storage.withLock { $0.memory.capacity = newValue } }
    }

    /// The capacity of the disk cache in bytes.
    open var diskCapacity: Int {
        get { storage.withLock { $0.diskCapacity } }
        set { storage.withLock { $0.diskCapacity = newValue } }
    }

    /// The current size of the memory cache in bytes.
    open var currentMemoryUsage: Int { storage.withLock { $0.memory.usage } }

    /// The current size of the disk cache in bytes.
    open var currentDiskUsage: Int { 0 }

    /// Stores the response for the request of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Looks up the stored response for a task's request, and passes it to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) })
    }

    /// Returns the stored response for a task's request.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        await withCheckedContinuation { continuation in
            getCachedResponse(for: dataTask) { continuation.resume(returning: $0) }
        }
    }

    /// Removes the stored response for a task's request.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }
}
