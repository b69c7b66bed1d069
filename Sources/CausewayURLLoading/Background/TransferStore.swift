internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// The files of a background session: the settings, and for each task a record and the content so far.
///
/// Only the user can access the directory. Records are replaced atomically, so a killed process leaves the old or the
/// new record.
final class TransferStore: Sendable {
    /// The lock files of the session; see ``BackgroundSession``.
    enum Lock: String {
        case owner = "owner.lock"
        case activity = "activity.lock"
    }

    /// The highest task identifier that is accepted from disk. Without a limit, a damaged number could exhaust the
    /// range of identifiers.
    static let maximumIdentifier = 1 << 40

    let path: String
    private let directory: PrivateDirectory

    /// Opens a session's directory.
    ///
    /// - Throws: `SystemError` if it cannot be used, see ``PrivateDirectory/init(path:isCreated:)``.
    init(opening path: String, isCreated: Bool = true) throws(SystemError) {
        directory = try PrivateDirectory(path: path, isCreated: isCreated)
        self.path = path
    }

    /// Opens a session's directory; `nil` if it cannot be used.
    convenience init?(_ path: String, isCreated: Bool = true) {
        do throws(SystemError) { try self.init(opening: path, isCreated: isCreated) } catch { return nil }
    }

    // MARK: Locks

    /// Takes a lock; returns `nil` if another process holds it. Retries for 100 ms, because another process can hold
    /// the lock briefly. A forked child of a killed process also keeps the lock until it calls `exec`.
    ///
    /// - Throws: `SystemError` if the lock's file cannot be used.
    func claim(_ lock: Lock) throws(SystemError) -> FileLock? {
        for _ in 0..<20 {
            if let taken = try directory.claim(lock.rawValue) { return taken }
            Thread.sleep(forTimeInterval: 0.005)
        }
        return nil
    }

    /// Takes a lock like ``claim(_:)``; `nil` also if its file cannot be used.
    func lock(_ lock: Lock) -> FileLock? {
        do throws(SystemError) { return try claim(lock) } catch { return nil }
    }

    /// Takes a lock if it is free, without retries.
    func lockAtOnce(_ lock: Lock) -> FileLock? { directory.lock(lock.rawValue) }

    /// Returns whether a process holds a lock.
    func isLocked(_ lock: Lock) -> Bool { directory.isLocked(lock.rawValue) }

    // MARK: Records

    private static func name(_ identifier: Int) -> String { "task-\(identifier)" }

    private static func identifier(of name: String) -> Int? {
        guard name.hasPrefix("task-"), let number = Int(name.dropFirst(5)), (1...maximumIdentifier).contains(number),
            self.name(number) == name
        else { return nil }
        return number
    }

    /// Returns the identifiers of the stored tasks, in order.
    ///
    /// - Throws: `SystemError` if the directory cannot be read now.
    func storedIdentifiers() throws(SystemError) -> [Int] {
        try directory.entries().compactMap { Self.identifier(of: $0.name) }.sorted()
    }

    /// The identifiers of the stored tasks, in order; `nil` if the directory cannot be read now.
    var identifiers: [Int]? {
        do throws(SystemError) { return try storedIdentifiers() } catch { return nil }
    }

    /// What the store has of a task.
    enum Stored: Sendable {
        case record(TransferRecord)
        case damaged
        case missing
    }

    /// Returns a task's record.
    ///
    /// - Throws: `SystemError` if the record may exist, but cannot be read now.
    func stored(_ identifier: Int) throws(SystemError) -> Stored {
        let name = Self.name(identifier)
        guard let (content, _) = try directory.contents(of: name, limit: TransferRecord.maximumByteCount) else {
            return try directory.contains(name) ? .damaged : .missing
        }
        return TransferRecord(content, identifier: identifier).map { .record($0) } ?? .damaged
    }

    /// Returns a task's record; `nil` if it is missing or damaged, or cannot be read now.
    func record(_ identifier: Int) -> TransferRecord? {
        do throws(SystemError) {
            guard case .record(let record) = try stored(identifier) else { return nil }
            return record
        } catch {
            return nil
        }
    }

    /// Writes a record. Returns whether that succeeded.
    @discardableResult
    func write(_ record: TransferRecord) -> Bool {
        guard let content = record.encoded else { return false }
        // Write the record through to the disk. Otherwise a power failure could damage it, and the task would be lost.
        return directory.replace(Self.name(record.identifier), with: [content], isSynchronized: true)
    }

    /// Removes a task.
    func remove(_ identifier: Int) {
        directory.remove(Self.name(identifier))
        directory.remove(Self.contentName(identifier))
    }

    /// Removes temporary files from killed processes, and content without a record. The caller holds the session's lock
    /// for the transfers.
    func clean() {
        let entries = directory.list() ?? []
        directory.removeAbandoned(entries)
        for entry in entries where entry.name.hasPrefix("content-") {
            // A task may have been added since the directory was listed. Its record is always written before its
            // content. So check again whether the record exists.
            if isMissing("task-" + entry.name.dropFirst(8)) { directory.remove(entry.name) }
        }
    }

    /// Returns whether a file is missing. Returns `false` if it cannot be examined now.
    private func isMissing(_ name: String) -> Bool {
        do throws(SystemError) { return try !directory.contains(name) } catch { return false }
    }

    // MARK: Content

    private static func contentName(_ identifier: Int) -> String { "content-\(identifier)" }

    /// The file with the response content so far.
    func contentURL(_ identifier: Int) -> URL {
        URL(fileURLWithPath: path).appendingPathComponent(Self.contentName(identifier))
    }

    /// Returns the number of content bytes stored so far; `nil` if there is no content, or if other users can write the
    /// file.
    func contentSize(_ identifier: Int) -> Int64? {
        directory.size(of: Self.contentName(identifier)).map { Int64($0) }
    }

    /// Returns the number of content bytes stored so far, like ``contentSize(_:)``. The content can be opened now.
    ///
    /// - Throws: `SystemError` if the content may exist, but cannot be opened now.
    func readableContentSize(_ identifier: Int) throws(SystemError) -> Int64? {
        let name = Self.contentName(identifier)
        // With this limit, a file is opened, and not read.
        _ = try directory.contents(of: name, limit: 0)
        return try directory.entry(name).map { Int64($0.size) }
    }

    /// Returns the response content stored so far. Returns `nil` if there is no content, if it is longer than `limit`
    /// bytes, or if other users can write its file.
    func content(_ identifier: Int, limit: Int) -> Data? {
        directory.read(Self.contentName(identifier), limit: limit).map { Data($0.content) }
    }

    /// Removes the content so far.
    func removeContent(_ identifier: Int) { directory.remove(Self.contentName(identifier)) }

    // MARK: The session

    /// Returns the stored settings; `nil` if there are none, or they are damaged.
    ///
    /// - Throws: `SystemError` if the settings may exist, but cannot be read now.
    func settings() throws(SystemError) -> SessionRecord? {
        guard let (content, _) = try directory.contents(of: SessionRecord.name, limit: 1 << 20),
            let record = try? PropertyListDecoder().decode(SessionRecord.self, from: Data(content)),
            (0...Self.maximumIdentifier).contains(record.lastIdentifier)
        else { return nil }
        return record
    }

    /// The stored settings; `nil` if there are none, or if they are damaged or cannot be read now.
    var session: SessionRecord? {
        do throws(SystemError) { return try settings() } catch { return nil }
    }

    /// Writes the settings if they have changed.
    func write(_ session: SessionRecord) {
        guard session != self.session else { return }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(session) else { return }
        _ = directory.replace(SessionRecord.name, with: [Array(data)], isSynchronized: true)
    }
}
