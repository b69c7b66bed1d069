internal import CausewaySystem
internal import Foundation

/// The storage for journal and contents. All calls except ``path(of:)`` block, and are made one at a time. Tests
/// replace the storage.
protocol JournalMedium: Sendable {
    /// The journal's size in bytes.
    var byteCount: Int { get }
    func append(_ bytes: [UInt8]) throws(SystemError)
    func synchronize() throws(SystemError)
    /// Cuts the journal to a size in bytes.
    func truncate(to byteCount: Int) throws(SystemError)
    /// Replaces the whole journal atomically. After a thrown error, the old journal is unchanged.
    ///
    /// - Returns: `nil` if the new journal is durable. Otherwise the error: the new journal is in use, but a power
    ///   failure may bring the old one back.
    func replace(with frames: [[UInt8]]) throws(SystemError) -> SystemError?
    /// Stores a content in a file, durably.
    func store(_ content: [UInt8], as name: String) throws(SystemError)
    /// Copies a file durably, and returns its size in bytes; `nil` if the file has more than `limit` bytes.
    func copy(_ path: String, as name: String, limit: Int) throws(SystemError) -> Int?
    func remove(_ name: String)
    /// Returns a content file's path.
    func path(of name: String) -> String
}

/// A queue's directory: journal, contents and lock. Only the user can access it, and no symbolic link is followed.
final class JournalDirectory: JournalMedium {
    static let journal = "journal"
    static let damaged = "journal.damaged"
    static let contentPrefix = "content-"
    private static let lockName = "lock"
    /// The maximum journal size in bytes. A larger file is not read, because the engine never writes one.
    private static let maximumByteCount = 1 << 30

    private let path: String
    private let directory: PrivateDirectory
    private let lock: FileLock
    private let file: LockedValue<AppendFile>

    /// Opens the directory, and acquires its lock.
    init(_ path: String) throws(OfflineError) {
        self.path = path
        do throws(SystemError) {
            directory = try PrivateDirectory.open(path)
        } catch {
            throw OfflineError(.storage, "cannot use the directory \(path): \(Self.text(error))")
        }
        guard let lock = try Self.lock(directory, path) else {
            throw OfflineError(
                .inUse, "another process or engine uses \(path): share one engine, or choose another directory")
        }
        self.lock = lock
        do throws(SystemError) {
            file = LockedValue(try directory.appendFile(Self.journal))
        } catch {
            throw OfflineError(.storage, "cannot open \(path)/\(Self.journal): \(Self.text(error))")
        }
    }

    /// Takes the lock; returns `nil` if another process or engine holds it. Tries for 200 ms: if the previous process
    /// was killed just after a fork, its child process holds the lock until the child calls exec.
    private static func lock(_ directory: PrivateDirectory, _ path: String) throws(OfflineError) -> FileLock? {
        do throws(SystemError) {
            for _ in 0..<20 {
                if let lock = try directory.claim(lockName) { return lock }
                Thread.sleep(forTimeInterval: 0.01)
            }
            return nil
        } catch {
            throw OfflineError(.storage, "cannot use \(path)/\(lockName): \(text(error))")
        }
    }

    /// Reads the journal. A damaged journal is first copied to ``damaged``.
    func read() throws(OfflineError) -> Journal.Content {
        guard byteCount <= Self.maximumByteCount else {
            throw OfflineError(.foreignJournal, "\(path)/\(Self.journal) has \(byteCount) bytes, which no queue writes")
        }
        let bytes = file.withLock { $0 }.content()
        guard bytes.count == byteCount else {
            throw OfflineError(.storage, "cannot read \(path)/\(Self.journal)")
        }
        let content = Journal.read(bytes)
        guard !content.isForeign else {
            throw OfflineError(
                .foreignJournal,
                "\(path)/\(Self.journal) is of another version or no journal: move it away to begin with an empty queue"
            )
        }
        if content.damagedByteCount > 0 {
            do throws(SystemError) {
                try directory.replaceDurably(Self.damaged, with: [bytes])
            } catch {
                throw OfflineError(.storage, "cannot keep the damaged journal in \(path): \(Self.text(error))")
            }
        }
        return content
    }

    /// Removes temporary files from killed processes. Also removes stored contents that no operation uses. The caller
    /// holds the directory's lock.
    func clean(keeping names: Set<String>) {
        for entry in directory.list() ?? [] {
            let isContent = entry.name.hasPrefix(Self.contentPrefix) && !names.contains(entry.name)
            if isContent || entry.name.hasPrefix(PrivateDirectory.temporaryPrefix) { directory.remove(entry.name) }
        }
    }

    static func text(_ error: SystemError) -> String { error.message }

    var byteCount: Int { file.withLock { $0 }.byteCount }

    func append(_ bytes: [UInt8]) throws(SystemError) { try file.withLock { $0 }.append(bytes) }

    func synchronize() throws(SystemError) { try file.withLock { $0 }.synchronize() }

    func truncate(to byteCount: Int) throws(SystemError) { try file.withLock { $0 }.truncate(to: byteCount) }

    func replace(with frames: [[UInt8]]) throws(SystemError) -> SystemError? {
        let (new, failure) = try directory.replaceAppendFile(Self.journal, with: frames)
        file.withLock { $0 = new }
        return failure
    }

    func store(_ content: [UInt8], as name: String) throws(SystemError) {
        try directory.replaceDurably(name, with: [content])
    }

    func copy(_ path: String, as name: String, limit: Int) throws(SystemError) -> Int? {
        try directory.copyDurably(path, to: name, limit: limit)
    }

    func remove(_ name: String) { directory.remove(name) }

    func path(of name: String) -> String { path + "/" + name }
}
