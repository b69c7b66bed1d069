internal import CausewaySystem
public import Foundation

/// A cache that maps requests to stored responses.
///
/// Responses are kept in memory and in files, and the least recently used responses are evicted first. A session uses a
/// cache by the rules of RFC 9111. Caches in several processes can use the same directory. They use a subdirectory that
/// only the user can access; if that is not possible, responses are kept in memory only.
///
/// Methods of this class read files on the caller's thread, and write them on a queue.
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

    private static let current = LockedValue<URLCache?>(nil)
    let memory: LockedValue<MemoryCache>
    let disk: DiskCache
    /// The keys whose stale responses are in use. At the same time, a request validates each of these responses.
    let validations = LockedValue<Set<MemoryCache.Key>>([])

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

    /// Creates a cache without capacity, which stores nothing, for subclasses with an initializer of their own.
    public override init() {
        memory = LockedValue(MemoryCache(capacity: 0))
        disk = DiskCache(path: Self.directory(nil), capacity: 0)
        super.init()
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The memory capacity in bytes; 0 disables the memory cache.
    ///   - diskCapacity: The disk capacity in bytes; 0 disables the disk cache.
    ///   - path: The directory of the disk cache. A relative path starts at the user's cache directory; `nil` means the
    ///     program's directory in the user's cache directory.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        memory = LockedValue(MemoryCache(capacity: memoryCapacity))
        disk = DiskCache(path: Self.directory(path), capacity: diskCapacity)
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

    /// The cache directory for a test runner, which must neither use nor change what an earlier run stored; `nil` for other programs.
    private static let testDirectory: String? = {
        let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
        guard StoreDirectory.isTestRunner(name) else { return nil }
        let path = FileManager.default.temporaryDirectory.path + "/URLCache-\(UUID().uuidString)"
        System.atExit { try? FileManager.default.removeItem(atPath: path) }
        return path
    }()

    /// Returns the absolute path of a cache directory.
    private static func directory(_ path: String?) -> String {
        if let path, path.hasPrefix("/") { return path }
        if path == nil, let testDirectory { return testDirectory }
        let base =
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path ?? NSTemporaryDirectory()
        let name = path ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return base + "/" + (name.isEmpty ? "program" : name)
    }

    /// Returns the stored response for a request.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = MemoryCache.Key(request), !isKnownToLack(key) else { return nil }
        let fields = Self.fields(of: request)
        if let entry = CacheEntry.selected(from: memoryEntries(for: key), for: fields, isLenient: true) {
            return entry.response
        }
        let changes = memory.withLock { $0.changeCount }
        let entries = disk.entries(for: key)
        keep(entries, for: key, unlessChangedSince: changes)
        return CacheEntry.selected(from: entries, for: fields, isLenient: true)?.response
    }

    /// Stores a response if the storage policy allows this and the response fits.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        let now = CacheExchange.now
        store(
            cachedResponse, for: request,
            CacheExchange(fields: Self.fields(of: request), requestTime: now, responseTime: now))
    }

    /// Removes the stored response for a request.
    open func removeCachedResponse(for request: URLRequest) {
        if let key = MemoryCache.Key(request) { remove(key) }
    }

    /// Removes all responses.
    open func removeAllCachedResponses() {
        memory.withLock { $0.removeAll() }
        disk.removeAll(since: nil)
    }

    /// Removes responses stored after a date.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func removeCachedResponses(since date: Date) {
        memory.withLock { $0.removeAll(since: date) }
        disk.removeAll(since: date)
    }

    /// The capacity of the memory cache in bytes. Setting a smaller value evicts responses immediately.
    open var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set { memory.withLock { $0.capacity = newValue } }
    }

    /// The capacity of the disk cache in bytes. Setting a smaller value evicts responses immediately.
    open var diskCapacity: Int {
        get { disk.capacity }
        set { disk.capacity = newValue }
    }

    /// The current size of the memory cache in bytes.
    open var currentMemoryUsage: Int { memory.withLock { $0.usage } }

    /// The current size of all files in the disk cache in bytes. Pending responses are written first.
    open var currentDiskUsage: Int { disk.usage }

    /// Stores a response for a task's request.
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
