import CCausewayLinux

/// A directory that only its user can read and write, for small files that are replaced as a whole.
///
/// Every operation is relative to the open directory and follows no symbolic link, so no other user can redirect it. A file is replaced by
/// writing a temporary file and renaming it: readers see the old or the new content, also if the writer is killed. Contents are not
/// synchronized to the medium; after a failure of power a file can have any content.
package final class PrivateDirectory: Sendable {
    /// A file of the directory.
    package struct Entry: Sendable {
        package var name: String
        /// The size in bytes.
        package var size: Int
        /// The time of the last change, in nanoseconds since 1970.
        package var changed: Int64
    }

    /// The maximum number of names that are listed.
    package static let maximumCount = 100_000
    /// The start of the names of temporary files.
    package static let temporaryPrefix = ".new-"

    private let descriptor: Descriptor
    private let temporaryCount = LockedValue(0)

    /// Opens a directory, and creates it if needed. Its parent is created as well, with the permissions of other new directories.
    ///
    /// - Returns: `nil` if the directory cannot be used: it cannot be created, belongs to another user, is a symbolic link, or others can
    ///   read or write it.
    package init?(_ path: String) {
        Self.makeParents(of: path)
        if mkdir(path, 0o700) != 0, errno != EEXIST { return nil }
        let number = Self.retrying { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard number >= 0 else { return nil }
        descriptor = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else { return nil }
    }

    private static func makeParents(of path: String) {
        var position = path.startIndex
        while let slash = path[position...].dropFirst().firstIndex(of: "/") {
            _ = mkdir(String(path[..<slash]), 0o755)
            position = slash
        }
    }

    private static func retrying(_ call: () -> CInt) -> CInt {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    // MARK: Reading

    /// The time of the last change of the directory, in nanoseconds since 1970. Changes when a file is added, replaced or removed.
    package var changed: Int64 {
        var facts = stat()
        return fstat(descriptor.rawValue, &facts) == 0 ? Self.time(facts) : 0
    }

    private static func time(_ facts: stat) -> Int64 {
        Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
    }

    private static func isOwn(_ facts: stat) -> Bool {
        facts.st_mode & S_IFMT == S_IFREG && facts.st_uid == geteuid() && facts.st_nlink == 1
    }

    /// Returns the content of a file and the time of its last change; `nil` if there is no such file, it belongs to another user, has
    /// another name as well, is not a regular file, or is larger than `limit`.
    package func read(_ name: String, limit: Int) -> (content: [UInt8], changed: Int64)? {
        let number = Self.retrying {
            openat(descriptor.rawValue, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        }
        guard number >= 0 else { return nil }
        let file = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(number, &facts) == 0, Self.isOwn(facts), facts.st_size <= limit else { return nil }
        let size = Int(facts.st_size)
        let content = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let result = pread(file.rawValue, buffer.baseAddress! + count, size - count, off_t(count))
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { break }
                count += result
            }
        }
        return content.count == size ? (content, Self.time(facts)) : nil
    }

    /// Returns the files of the user in this directory, at most ``maximumCount``, in no order.
    package func list() -> [Entry] {
        // A stream needs another descriptor, because it has a position.
        let number = Self.retrying { openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard number >= 0 else { return [] }
        guard let stream = fdopendir(number) else {
            _ = close(number)
            return []
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        var count = 0
        while count < Self.maximumCount, let record = readdir(stream) {
            count += 1
            let name = withUnsafePointer(to: &record.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var facts = stat()
            guard fstatat(descriptor.rawValue, name, &facts, AT_SYMLINK_NOFOLLOW) == 0, Self.isOwn(facts) else {
                continue
            }
            entries.append(Entry(name: name, size: Int(facts.st_size), changed: Self.time(facts)))
        }
        return entries
    }

    // MARK: Writing

    /// Replaces a file, or creates it.
    ///
    /// - Returns: Whether the file has the new content.
    package func replace(_ name: String, with pieces: [[UInt8]]) -> Bool {
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
        let isWritten = pieces.allSatisfy { Self.write($0, to: file.rawValue) }
        if isWritten, renameat(descriptor.rawValue, temporary, descriptor.rawValue, name) == 0 { return true }
        _ = unlinkat(descriptor.rawValue, temporary, 0)
        return false
    }

    private static func write(_ bytes: [UInt8], to number: CInt) -> Bool {
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
}

/// Calls write(2), whose name the method of the type hides.
private func writeBytes(_ number: CInt, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(number, bytes, count) }
