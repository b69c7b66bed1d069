internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// The files of a cache, in a directory of their own. Other processes can use the same directory.
///
/// Writes happen on a queue. If several changes to a key are pending, only the latest one is written. A file is
/// replaced atomically, and is checked when it is read. So a process that ends at any moment leaves either the old or
/// the new response.
final class DiskCache: Sendable {
    struct State: Sendable {
        var capacity: Int
        /// The directory of the cache. The outer `nil` means that the cache has not tried to open it. The inner `nil`
        /// means that all tries have failed.
        var directory: PrivateDirectory??
        /// The index of the files; `nil` before the directory is first read.
        var index: DiskIndex?
        var changes = DiskChanges()
        var isFlushScheduled = false
        /// When the latest comparison of the directory with the index was made.
        var lastComparison = Duration.zero
        /// The directory's modification time when the index was read; `nil` if no index was read so far.
        var lastChange: Int64?
    }

    /// The minimum time between two writes of pending changes. Several changes to the same key within this time become
    /// one change.
    static let flushInterval = Duration.milliseconds(50)
    /// The interval at which the directory is checked for files from other processes.
    private static let comparisonInterval = Duration.seconds(5)

    private let path: String
    let writing = DispatchQueue(label: "causeway.url-cache", qos: .utility)
    private let reading = DispatchQueue(label: "causeway.url-cache.reading", qos: .userInitiated)
    let state: LockedValue<State>

    /// Creates a cache in a directory inside `path`. The directory is opened when it is first needed.
    init(path: String, capacity: Int) {
        self.path = path
        state = LockedValue(State(capacity: capacity))
    }

    // MARK: Lookups

    /// Whether the cache has no file for a key, as far as this process knows.
    func isKnownToLack(_ key: MemoryCache.Key) -> Bool {
        let (isAbsent, mustCompare) = state.withLock { state -> (Bool, Bool) in
            guard state.capacity > 0 else { return (true, false) }
            guard let index = state.index else { return (false, false) }
            guard !index.contains(DiskIndex.hash(key)), state.changes[key] == nil else { return (false, false) }
            let now = System.now
            guard now - state.lastComparison > Self.comparisonInterval else { return (true, false) }
            state.lastComparison = now
            return (true, true)
        }
        if mustCompare { writing.async { [self] in compare() } }
        return isAbsent
    }

    /// Reads a key's entries on a queue. Calls the closure with them on that queue.
    func read(_ key: MemoryCache.Key, then: @escaping @Sendable ([CacheEntry]) -> Void) {
        reading.async { [self] in then(entries(for: key)) }
    }

    /// Returns a key's entries. Reads their files on the caller's thread.
    func entries(for key: MemoryCache.Key) -> [CacheEntry] {
        let waiting = state.withLock { state in state.changes[key] }
        if let waiting, waiting.removesFiles { return waiting.entries }
        guard let directory = openedDirectory() else { return waiting?.entries ?? [] }
        let hash = DiskIndex.hash(key)
        let (slots, limit) = state.withLock { state in
            (state.index?.slots(of: hash) ?? [], Self.limit(state.capacity))
        }
        var entries: [CacheEntry] = []
        for slot in slots {
            guard let entry = read(hash, slot, key, in: directory, limit) else { continue }
            entries.append(entry)
            state.withLock { state in state.index?.noteUse(hash, slot) }
        }
        for entry in waiting?.entries ?? [] { entries = entry.added(to: entries) }
        return entries
    }

    /// The maximum size of a file that is read.
    private static func limit(_ capacity: Int) -> Int { capacity > 0 ? min(capacity, 1 << 30) + (2 << 20) : 0 }

    /// Reads the entry in one file. Returns `nil` if the file has no entry for the key.
    func storedEntry(_ hash: UInt64, _ slot: Int, _ key: MemoryCache.Key) -> CacheEntry? {
        let (isKnown, limit) = state.withLock { state in
            (state.index?.slots(of: hash).contains(slot) == true, Self.limit(state.capacity))
        }
        guard isKnown, let directory = openedDirectory() else { return nil }
        return read(hash, slot, key, in: directory, limit)
    }

    /// Reads one file. A damaged file is removed.
    private func read(
        _ hash: UInt64, _ slot: Int, _ key: MemoryCache.Key, in directory: PrivateDirectory, _ limit: Int
    ) -> CacheEntry? {
        let name = DiskIndex.name(hash, slot)
        guard let (file, changed) = directory.read(name, limit: limit) else {
            // If the file still exists, keep it in the index. The read may have failed for another reason, for example
            // because no descriptor is free.
            if directory.lacks(name) { state.withLock { state in state.index?.remove(hash, slot) } }
            return nil
        }
        let date = Date(timeIntervalSince1970: Double(changed) / 1e9)
        if let entry = DiskFile.entry(file, for: key, changed: date) { return entry }
        writing.async { [self] in
            // Another thread may have replaced the file after it was read. So read the file again, and remove it only
            // if it is unchanged.
            guard let (again, _) = directory.read(name, limit: limit), again == file else { return }
            directory.remove(name)
            state.withLock { state in state.index?.remove(hash, slot) }
        }
        return nil
    }

    // MARK: The directory

    /// Returns the cache's directory, and opens it at the first call. Returns `nil` if the directory could not be used
    /// so far.
    func openedDirectory() -> PrivateDirectory? {
        if let known = state.withLock({ $0.directory }) { return known }
        return adopt(PrivateDirectory(location), replacing: nil)
    }

    /// Returns the cache's directory. If this directory was removed, opens the directory that now exists at its path,
    /// with the same checks. If no directory could be opened so far, tries again, because there may have been no free
    /// descriptor. Called on the queue for writing.
    ///
    /// - Parameter isCreated: Whether a missing directory is created.
    func presentDirectory(isCreated: Bool) -> PrivateDirectory? {
        guard let known = openedDirectory() else {
            return PrivateDirectory(location, isCreated: isCreated).flatMap { adopt($0, replacing: nil) }
        }
        guard known.isRemoved, let opened = PrivateDirectory(location, isCreated: isCreated) else { return known }
        return adopt(opened, replacing: known)
    }

    private var location: String { path + "/URLCache-1" }

    /// Makes the cache use a newly opened directory, and reads the directory's index.
    ///
    /// If another call has already replaced `old`, returns the cache's current directory instead.
    private func adopt(_ opened: PrivateDirectory?, replacing old: PrivateDirectory?) -> PrivateDirectory? {
        // The directory's modification time is read before its files are listed. So a change after the listing gives
        // the directory another modification time, and the next comparison notices it.
        let changed = opened?.changed
        let listed = opened?.list()
        let index = DiskIndex(listed ?? [])
        let now = System.now
        let directory = state.withLock { state -> PrivateDirectory? in
            if let known = state.directory, known !== old { return known }
            state.directory = .some(opened)
            state.index = index
            state.lastChange = listed == nil ? nil : changed
            state.lastComparison = now
            return opened
        }
        if let directory, directory === opened { writing.async { [self] in clean(directory, listed ?? []) } }
        return directory
    }

    /// Reads the index again if another process may have changed files. Called on the queue for writing.
    private func compare() {
        guard let directory = presentDirectory(isCreated: false) else { return }
        let changed = directory.changed
        guard changed != state.withLock({ $0.lastChange }), let entries = directory.list() else { return }
        let index = DiskIndex(entries)
        state.withLock { state in
            state.index = index
            state.lastChange = changed
        }
        clean(directory, entries)
    }
}
