internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

extension DiskCache {
    /// The age in seconds at which files are removed, even if the capacity is not used up.
    private static let maximumAge: TimeInterval = 180 * 86_400

    /// Whether the cache stores nothing, because its capacity is 0.
    private var isOff: Bool { state.withLock { $0.capacity <= 0 } }

    // MARK: Changes

    /// Schedules an entry to be stored.
    func store(_ entry: CacheEntry, for key: MemoryCache.Key) {
        guard !isOff else { return }
        change { $0.store(entry, for: key) }
    }

    /// Removes the files for one cache key later, on the writing queue. From now on, lookups do not find these files.
    func remove(_ key: MemoryCache.Key) {
        guard !isOff else { return }
        change { $0.remove(key) }
    }

    private func change(_ body: (inout DiskChanges) -> Void) {
        let mustSchedule = state.withLock { state in
            body(&state.changes)
            defer { state.isFlushScheduled = true }
            return !state.isFlushScheduled
        }
        if mustSchedule { writing.async { [self] in flush() } }
    }

    /// Writes pending changes. If there were any, schedules another flush, which also writes the changes made until
    /// then.
    private func flush() {
        let count = writeChanges()
        let goesOn = state.withLock { state in
            state.isFlushScheduled = count > 0 || !state.changes.isEmpty
            return state.isFlushScheduled
        }
        if goesOn { writing.call(after: Self.flushInterval) { [self] in flush() } }
    }

    /// Writes pending changes and returns their number. Called on the queue for writing.
    ///
    /// If a user has removed the directory, it is created again, but only if there are changes to write.
    @discardableResult
    private func writeChanges() -> Int {
        let hasChanges = state.withLock { !$0.changes.isEmpty }
        guard let directory = hasChanges ? presentDirectory(isCreated: true) : openedDirectory() else {
            return state.withLock { state in
                state.changes.removeAll()
                return 0
            }
        }
        var count = 0
        for key in state.withLock({ $0.changes.keys }) {
            guard let change = state.withLock({ $0.changes[key] }) else { continue }
            write(change, for: key, in: directory)
            count += 1
            state.withLock { $0.changes.wrote(change, for: key) }
        }
        if count > 0 { evict(directory) }
        return count
    }

    private func write(_ change: DiskChanges.Change, for key: MemoryCache.Key, in directory: PrivateDirectory) {
        let hash = DiskIndex.hash(key)
        if change.removesFiles { removeFiles(of: hash, in: directory, except: nil) }
        for entry in change.entries {
            let entry = entry.isPartial ? combined(entry, key, hash) : entry
            guard let pieces = DiskFile.pieces(of: entry, for: key) else { continue }
            let size = pieces.reduce(0) { $0 + $1.count }
            guard size <= state.withLock({ $0.capacity }) else { continue }
            let answersAll = entry.head.map { $0.selecting.isEmpty && $0.part == nil } ?? true
            let slot = answersAll ? 0 : slot(for: entry, key, hash)
            guard directory.replace(DiskIndex.name(hash, slot), with: pieces) else { continue }
            state.withLock { state in state.index?.note(hash, slot, size: size) }
            if answersAll { removeFiles(of: hash, in: directory, except: slot) }
        }
    }

    /// Returns a partial entry, combined with the parts of the same content that are stored in files. The memory cache
    /// may not contain these parts.
    private func combined(_ entry: CacheEntry, _ key: MemoryCache.Key, _ hash: UInt64) -> CacheEntry {
        let stored = (0..<CacheEntry.maximumVariants).compactMap { storedEntry(hash, $0, key) }
        return entry.combined(with: stored, limit: capacity / 20)
    }

    /// Returns the slot for an entry. The slot is the number in the file name.
    ///
    /// If the entry replaces another entry, this is that entry's slot. Otherwise it is a free slot, or the slot of the
    /// oldest entry if no slot is free.
    private func slot(for entry: CacheEntry, _ key: MemoryCache.Key, _ hash: UInt64) -> Int {
        var oldest = (slot: 0, stored: Date.distantFuture)
        var free: Int?
        for slot in 0..<CacheEntry.maximumVariants {
            guard let other = storedEntry(hash, slot, key) else {
                free = free ?? slot
                continue
            }
            if entry.replaces(other) { return slot }
            if other.stored < oldest.stored { oldest = (slot, other.stored) }
        }
        if let free { return free }
        return oldest.slot
    }

    private func removeFiles(of hash: UInt64, in directory: PrivateDirectory, except kept: Int?) {
        for slot in state.withLock({ $0.index?.slots(of: hash) ?? [] }) where slot != kept {
            directory.remove(DiskIndex.name(hash, slot))
            state.withLock { state in state.index?.remove(hash, slot) }
        }
    }

    // MARK: Limits

    private func evict(_ directory: PrivateDirectory) {
        let names = state.withLock { state in state.index?.evict(to: state.capacity) ?? [] }
        for name in names { directory.remove(name) }
        let changed = directory.changed
        // The removal of files has changed the modification time of the directory. The index already reflects the
        // removals. So store the new time, to avoid another read of the directory.
        //
        // If another process changes the directory at the same moment, this process notices that change only together
        // with the next change. If no earlier modification time is known, keep it unknown: the directory must still be
        // read.
        state.withLock { state in if state.lastChange != nil { state.lastChange = changed } }
    }

    /// Removes old files, and temporary files from killed processes. Called on the queue for writing.
    func clean(_ directory: PrivateDirectory, _ entries: [PrivateDirectory.Entry]) {
        let now = Date().timeIntervalSince1970
        for entry in entries {
            let age = now - Double(entry.changed) / 1e9
            guard age > Self.maximumAge, let (hash, slot) = DiskIndex.parse(entry.name) else { continue }
            directory.remove(entry.name)
            state.withLock { state in state.index?.remove(hash, slot) }
        }
        directory.removeAbandoned(entries)
        evict(directory)
    }

    /// The maximum total file size in bytes. Setting a smaller value evicts files, and returns after they are removed.
    var capacity: Int {
        get { state.withLock { $0.capacity } }
        set {
            state.withLock { $0.capacity = max(0, newValue) }
            // If the directory is not open yet, do nothing now. Files are evicted when it is opened.
            guard state.withLock({ $0.directory != nil }) else { return }
            writing.sync { if let directory = openedDirectory() { evict(directory) } }
        }
    }

    /// The total file size in bytes, after pending changes have been written.
    var usage: Int {
        guard !isOff else { return 0 }
        return writing.sync {
            writeChanges()
            return state.withLock { $0.index?.usage ?? 0 }
        }
    }

    /// Removes the files that were written after `date`, or all files if `date` is `nil`. Returns after they are
    /// removed.
    func removeAll(since date: Date?) {
        guard !isOff else { return }
        writing.sync {
            if date == nil { state.withLock { $0.changes.removeAll() } } else { writeChanges() }
            guard let directory = presentDirectory(isCreated: false) else { return }
            for entry in directory.list() ?? [] {
                guard let (hash, slot) = DiskIndex.parse(entry.name) else { continue }
                if let date, Double(entry.changed) / 1e9 <= date.timeIntervalSince1970 { continue }
                directory.remove(entry.name)
                state.withLock { state in state.index?.remove(hash, slot) }
            }
            guard date == nil else { return }
            // In case the directory could not be listed, remove at least the files in the index.
            for name in state.withLock({ $0.index?.evict(to: 0) ?? [] }) { directory.remove(name) }
        }
    }
}
