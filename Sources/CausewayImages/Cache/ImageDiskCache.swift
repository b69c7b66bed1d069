public import CausewayImageFormats
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
public import Foundation

/// A disk cache for images, with a separate directory for each loader.
///
/// The files contain the server's bytes and the validators for conditional requests. They outlive the program. A file
/// is replaced as a whole: if the process is killed, the old or the new file remains. A checksum detects damage from a
/// power failure. Symbolic links, other users' files and files with other names are neither read nor removed.
public final class ImageDiskCache: Sendable {
    private static let suffix = ".image"

    private struct State {
        var index: RecencyCache<String, Bool>
        var isListed = false
        var directory: PrivateDirectory
    }

    private let path: String
    private let maximumFile: Int
    private let state: LockedValue<State>
    private let queue = DispatchQueue(label: "causeway.images.disk", qos: .utility)
    /// The current time in seconds since 1970. Replaceable in tests.
    private let now: @Sendable () -> Int64

    /// Opens a directory, and creates it if it does not exist. No other program should store files there.
    ///
    /// - Parameters:
    ///   - directory: The directory. It must belong to the process's user, and other users must have no access to it.
    ///   - limits: The limits. The default is 256 MiB in 10,000 files; a cost of 0 stores nothing.
    /// - Throws: ``/CausewayImageFormats/ImageError`` if the directory cannot be created, belongs to another user, is a
    ///   symbolic link, or is accessible to other users.
    public convenience init(
        directory: URL, limits: ImageCacheLimits = ImageCacheLimits(cost: 256 * 1024 * 1024, count: 10_000)
    ) throws(ImageError) {
        try self.init(path: directory.path, limits: limits) { Int64(Date().timeIntervalSince1970) }
    }

    init(path: String, limits: ImageCacheLimits, now: @escaping @Sendable () -> Int64) throws(ImageError) {
        guard let directory = PrivateDirectory(path) else {
            throw ImageError(.cacheUnusable, "\(path) must be a directory to which only its user has access")
        }
        self.path = path
        self.now = now
        state = LockedValue(State(index: RecencyCache(limits: limits), directory: directory))
        let (sum, overflows) = limits.cost.addingReportingOverflow(CacheRecord.maximumHeader + 32)
        maximumFile = overflows ? Int.max : sum
    }

    /// Returns the record stored for a key. Removes a damaged file.
    func record(for key: String) async -> CacheRecord? {
        await perform { [self] in
            list()
            let name = Self.name(key)
            let isListed = state.withLock { $0.index.value(for: name, now: .seconds(now())) } != nil
            guard let file = directory.read(name, limit: maximumFile) else {
                // If the file still exists, it cannot be read now, and still counts for the limits.
                if directory.lacks(name) { _ = state.withLock { $0.index.remove(name) } }
                return nil
            }
            // A file that is not in the index comes from another process, which stored it after this process listed the
            // directory. The file is used unless it is older than the age limit.
            guard let record = CacheRecord(file.content), record.key == key, isListed || isYoung(record) else {
                remove([name])
                return nil
            }
            if !isListed { noteForeign(name, file) }
            return record
        }
    }

    /// Stores a record and evicts others to stay within the limits. Returns when the file is written.
    func store(_ record: CacheRecord) async {
        await perform { [self] in
            renew(isCreated: true)
            list()
            guard let header = record.header else { return }
            let name = Self.name(record.key)
            let cost = header.count + record.content.count
            // Update the index first: it determines which files to evict. They are removed before the new file is
            // written, so that the disk never exceeds the limits by more than one file.
            let removed = state.withLock {
                $0.index.store(true, for: name, cost: cost, stored: .seconds(record.stored))
            }
            remove(removed)
            guard !removed.contains(name) else { return }
            if !directory.replace(name, with: [header, record.content]) {
                _ = state.withLock { $0.index.remove(name) }
            }
        }
    }

    /// Removes the record that is stored for a key.
    func remove(_ key: String) async { await perform { [self] in remove([Self.name(key)]) } }

    /// Removes all images in the cache. Keeps other files.
    ///
    /// Cancellation: no effect.
    public func removeAll() async {
        await perform { [self] in
            state.withLock { $0.index.removeAll() }
            // If the directory cannot be read now, its files remain and count towards the limits. So the next call must
            // read the directory again.
            guard let entries = directory.list() else {
                state.withLock { $0.isListed = false }
                return
            }
            for entry in entries where Self.isOwn(entry.name) { directory.remove(entry.name) }
        }
    }

    /// Returns when all records that were passed to ``store(_:)`` before this call are written.
    func flush() async { await perform {} }

    /// Returns the number of files and bytes.
    ///
    /// Cancellation: no effect.
    public func usage() async -> (count: Int, byteCount: Int) {
        await perform { [self] in
            list()
            return state.withLock { ($0.index.count, $0.index.cost) }
        }
    }

    // MARK: On the dispatch queue

    private func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }

    private func isYoung(_ record: CacheRecord) -> Bool {
        guard let age = state.withLock({ $0.index.limits.age }) else { return true }
        return .seconds(now()) - .seconds(record.stored) <= age
    }

    /// Adds a file from another process to the index.
    private func noteForeign(_ name: String, _ file: (content: [UInt8], changed: Int64)) {
        let removed = state.withLock {
            $0.index.store(true, for: name, cost: file.content.count, stored: .nanoseconds(file.changed))
        }
        remove(removed)
    }

    private var directory: PrivateDirectory { state.withLock { $0.directory } }

    /// Opens the directory's path again if the open directory was removed.
    ///
    /// - Parameter isCreated: Whether to create a missing directory.
    private func renew(isCreated: Bool) {
        guard directory.isRemoved else { return }
        let opened = PrivateDirectory(path, isCreated: isCreated)
        state.withLock { state in
            state.index.removeAll()
            guard let opened else { return }
            state.directory = opened
            state.isListed = false
        }
    }

    /// Reads the directory, unless its files are already in the index. Then removes expired files and files that exceed
    /// the limits.
    private func list() {
        renew(isCreated: false)
        guard !state.withLock({ $0.isListed }) else { return }
        // Reading the directory can fail, for example if there is no free descriptor. If it fails, the next call tries
        // again.
        guard let entries = directory.list() else { return }
        directory.removeAbandoned(entries)
        let removed = state.withLock { state -> [String] in
            state.isListed = true
            var removed: [String] = []
            for entry in entries.sorted(by: { $0.changed < $1.changed }) where Self.isOwn(entry.name) {
                let stored = Duration.nanoseconds(entry.changed)
                removed += state.index.store(true, for: entry.name, cost: entry.size, stored: stored)
            }
            return removed + state.index.expire(now: .seconds(now()))
        }
        remove(removed)
    }

    private func remove(_ names: [String]) {
        for name in names {
            _ = state.withLock { $0.index.remove(name) }
            directory.remove(name)
        }
    }

    /// Returns a file name that reveals nothing about the URL.
    static func name(_ key: String) -> String {
        var digest = SHA256()
        let bytes = Array(key.utf8)
        digest.update(bytes.span.bytes)
        return digest.finish().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined() + suffix
    }

    private static func isOwn(_ name: String) -> Bool {
        name.hasSuffix(suffix) && name.utf8.count == 64 + suffix.utf8.count
            && name.utf8.prefix(64).allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
