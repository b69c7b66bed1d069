import CCausewayLinux

/// A directory that only its user can read and write, for small files that are replaced as a whole.
///
/// Every operation is relative to the open directory and follows no symbolic link, so no other user can redirect it. A
/// file is replaced by writing a temporary file and renaming it: readers see the old or the new content, even if the
/// writer is killed. After a power failure a file can have any content, unless that content was synchronized to disk.
package final class PrivateDirectory: Sendable {
    /// A file in the directory.
    package struct Entry: Sendable {
        package var name: String
        /// The file's size in bytes.
        package var size: Int
        /// The modification time, in nanoseconds since 1970.
        package var changed: Int64
    }

    /// The maximum number of names that are read from the directory.
    package static let maximumCount = 100_000
    /// The prefix for temporary file names.
    package static let temporaryPrefix = ".new-"
    /// The age, in nanoseconds, after which a temporary file counts as abandoned. No write takes an hour.
    private static let temporaryAge: Int64 = 3_600_000_000_000
    /// The number of attempts to get a lock, 10 ms apart.
    private static let lockAttempts = 200

    let descriptor: Descriptor
    private let temporaryCount = LockedValue(0)

    /// Opens a directory, and creates it if needed. Missing parents are created as well, with the usual permissions for
    /// new directories.
    ///
    /// - Parameters:
    ///   - path: The directory's path.
    ///   - isCreated: Whether to create a missing directory.
    /// - Throws: `SystemError` with the reason: `ENOENT` only if the directory is missing, `ENOTDIR` for a file of
    ///   another type, `ELOOP` for a symbolic link, `EPERM` if the directory belongs to another user, or if others can
    ///   read or write it.
    package init(path: String, isCreated: Bool = true) throws(SystemError) {
        if isCreated {
            Self.makeParents(of: path)
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError(errno: errno, call: "mkdir") }
        }
        let number = Self.retrying { openPath(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard number >= 0 else { throw Self.openFailure(path, errno) }
        descriptor = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(number, &facts) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
            throw SystemError(errno: EPERM, call: "open")
        }
    }

    /// Opens a directory like ``init(path:isCreated:)``; `nil` if that fails.
    package convenience init?(_ path: String, isCreated: Bool = true) {
        do throws(SystemError) { try self.init(path: path, isCreated: isCreated) } catch { return nil }
    }

    /// The kernel reports `ENOTDIR` also for a symbolic link, because the flags demand a directory.
    private static func openFailure(_ path: String, _ code: CInt) -> SystemError {
        var facts = stat()
        let isLink = code == ENOTDIR && lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
        return SystemError(errno: isLink ? ELOOP : code, call: "open")
    }

    private static func makeParents(of path: String) {
        var position = path.startIndex
        // The kernel looks for the byte of `/`, so do the same. A search by characters would miss a slash that is
        // followed by a combining mark.
        while let slash = path.utf8[position...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
            _ = mkdir(String(path[..<slash]), 0o755)
            position = slash
        }
    }

    static func retrying(_ call: () -> CInt) -> CInt {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    // MARK: Reading

    /// The directory's modification time, in nanoseconds since 1970. It changes when a file is added, replaced or
    /// removed.
    package var changed: Int64 {
        var facts = stat()
        return fstat(descriptor.rawValue, &facts) == 0 ? Self.time(facts) : 0
    }

    /// Whether the directory was removed while it was open. Its path may already belong to another directory.
    package var isRemoved: Bool {
        var facts = stat()
        return fstat(descriptor.rawValue, &facts) == 0 && facts.st_nlink == 0
    }

    /// Returns the modification time. A file can have a time before 1678 or after 2261; such times are clamped.
    static func time(_ facts: stat) -> Int64 {
        let seconds = min(max(Int64(facts.st_mtim.tv_sec), -9_214_646_400), 9_214_646_400)
        return seconds * 1_000_000_000 + min(max(Int64(facts.st_mtim.tv_nsec), 0), 999_999_999)
    }

    static func isOwn(_ facts: stat) -> Bool {
        facts.st_mode & S_IFMT == S_IFREG && facts.st_uid == geteuid() && facts.st_nlink == 1
            && facts.st_mode & 0o022 == 0
    }

    /// Returns a file's content and modification time. Returns `nil` if there is no such file, if it belongs to another
    /// user, can be written by others, has another hard link, is not a regular file, or is larger than `limit`.
    ///
    /// - Throws: `SystemError` if the file may exist, but cannot be read now.
    package func contents(
        of name: String, limit: Int
    ) throws(SystemError) -> (content: [UInt8], changed: Int64)? {
        let number = Self.retrying {
            openat(descriptor.rawValue, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        }
        guard number >= 0 else {
            let code = errno
            guard try entry(name) != nil else { return nil }
            throw SystemError(errno: code, call: "open")
        }
        let file = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(number, &facts) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard Self.isOwn(facts), facts.st_size <= limit else { return nil }
        let content = SystemFile.content(of: file, size: Int(facts.st_size))
        guard content.count == Int(facts.st_size) else { throw SystemError(errno: EIO, call: "read") }
        return (content, Self.time(facts))
    }

    /// Returns a file's content like ``contents(of:limit:)``; `nil` also if the file cannot be read now.
    package func read(_ name: String, limit: Int) -> (content: [UInt8], changed: Int64)? {
        do throws(SystemError) { return try contents(of: name, limit: limit) } catch { return nil }
    }

    /// Returns a file. Returns `nil` if there is no such file, if it belongs to another user, can be written by others,
    /// has another hard link, or is not a regular file.
    ///
    /// - Throws: `SystemError` if the file may exist, but cannot be examined now.
    package func entry(_ name: String) throws(SystemError) -> Entry? {
        guard let facts = try facts(of: name), Self.isOwn(facts) else { return nil }
        return Entry(name: name, size: Int(facts.st_size), changed: Self.time(facts))
    }

    /// Returns whether the directory has a file of any kind with this name.
    ///
    /// - Throws: `SystemError` if the file may exist, but cannot be examined now.
    package func contains(_ name: String) throws(SystemError) -> Bool { try facts(of: name) != nil }

    /// Returns whether ``entry(_:)`` finds no file. Returns `false` if the file cannot be examined now.
    package func lacks(_ name: String) -> Bool {
        do throws(SystemError) { return try entry(name) == nil } catch { return false }
    }

    private func facts(of name: String) throws(SystemError) -> stat? {
        var facts = stat()
        guard fstatat(descriptor.rawValue, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 else { return facts }
        guard errno == ENOENT else { throw SystemError(errno: errno, call: "stat") }
        return nil
    }

    /// Returns a file's size in bytes. Returns `nil` if there is no such file, if it belongs to another user, can be
    /// written by others, has another hard link, is not a regular file, or cannot be examined now.
    package func size(of name: String) -> Int? {
        do throws(SystemError) { return try entry(name)?.size } catch { return nil }
    }

    /// Opens a lock file in the directory. Creates it if `isCreated` is true.
    func open(_ name: String, isCreated: Bool) -> Descriptor? {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (isCreated ? O_CREAT : 0)
        let number = Self.retrying { openat(descriptor.rawValue, name, flags, 0o600) }
        return number >= 0 ? Descriptor(adopting: number) : nil
    }

    /// Returns the user's own files in this directory, in no particular order.
    ///
    /// - Throws: `SystemError` if the directory or one of its files cannot be read now; `EOVERFLOW` if there are more
    ///   than ``maximumCount`` names.
    package func entries() throws(SystemError) -> [Entry] {
        let (entries, isComplete) = try firstEntries()
        guard isComplete else { throw SystemError(errno: EOVERFLOW, call: "readdir") }
        return entries
    }

    /// Returns the user's own files in this directory, at most ``maximumCount``, in no particular order. Returns `nil`
    /// if the directory or one of its files cannot be read now, for example because the process has no free descriptor.
    package func list() -> [Entry]? {
        do throws(SystemError) { return try firstEntries().entries } catch { return nil }
    }

    private func firstEntries() throws(SystemError) -> (entries: [Entry], isComplete: Bool) {
        // The stream has its own descriptor, because reading a directory moves the descriptor's position.
        var stream = try DirectoryStream(of: descriptor.rawValue)
        var entries: [Entry] = []
        for _ in 0..<Self.maximumCount {
            guard let name = try stream.next() else { return (entries, true) }
            if let entry = try entry(name) { entries.append(entry) }
        }
        return (entries, try stream.next() == nil)
    }

    // MARK: Writing

    /// Replaces a file, or creates it.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - pieces: The new content, in order.
    ///   - isSynchronized: Whether to synchronize the content to disk before the rename, so that a power failure leaves
    ///     the old or the new content.
    /// - Returns: Whether the file has the new content.
    package func replace(_ name: String, with pieces: [[UInt8]], isSynchronized: Bool = false) -> Bool {
        let count = temporaryCount.withLock { count in
            count += 1
            return count
        }
        let temporary = "\(Self.temporaryPrefix)\(getpid())-\(count)-\(UInt32.random(in: .min ... .max))"
        let number = Self.retrying {
            openat(descriptor.rawValue, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard number >= 0 else { return false }
        let file = Descriptor(adopting: number)
        var isWritten = pieces.allSatisfy { Self.write($0, to: file.rawValue) }
        if isSynchronized { isWritten = isWritten && fsync(file.rawValue) == 0 }
        if isWritten, renameat(descriptor.rawValue, temporary, descriptor.rawValue, name) == 0 { return true }
        _ = unlinkat(descriptor.rawValue, temporary, 0)
        return false
    }

    static func write(_ bytes: [UInt8], to number: CInt) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let result = writeBytes(number, buffer.baseAddress! + offset, buffer.count - offset)
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return false }
                offset += result
            }
            return true
        }
    }

    /// Removes a file. A missing file is no error.
    package func remove(_ name: String) { _ = unlinkat(descriptor.rawValue, name, 0) }

    /// Removes the abandoned temporary files among `entries`: files that were written more than an hour ago but not yet
    /// renamed.
    package func removeAbandoned(_ entries: [Entry]) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let limit = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) - Self.temporaryAge
        for entry in entries where entry.name.hasPrefix(Self.temporaryPrefix) && entry.changed < limit {
            remove(entry.name)
        }
    }

    // MARK: Locking

    /// Calls a closure while this caller holds the lock with this name. No other process, and no other caller in this
    /// process, holds the lock meanwhile. Blocks until the lock is free.
    ///
    /// - Returns: The closure's result. `nil` if another caller held the lock for two seconds, or if the lock's file
    ///   cannot be opened.
    package func whileLocked<Result>(_ name: String, _ body: () -> Result) -> Result? {
        guard let file = open(name, isCreated: true) else { return nil }
        for _ in 0..<Self.lockAttempts {
            if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 {
                // Unlock the file before it is closed. Otherwise, a child process that was just forked would keep the
                // lock until it executes its program.
                defer { _ = flock(file.rawValue, LOCK_UN) }
                return body()
            }
            usleep(10_000)
        }
        return nil
    }
}

/// Calls open(2). Inside ``PrivateDirectory``, the name `open` would refer to a method of that type.
private func openPath(_ path: String, _ flags: CInt) -> CInt { open(path, flags) }

/// Calls write(2). Inside ``PrivateDirectory``, the name `write` refers to a method of that type.
private func writeBytes(_ number: CInt, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(number, bytes, count) }
