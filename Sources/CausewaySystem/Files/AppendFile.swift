/// A file that only grows at its end, for journals. All calls block.
///
/// Concurrent callers append one after the other. Only one process may append at a time: hold a ``FileLock`` in the
/// file's directory.
package final class AppendFile: Sendable {
    private let file: Descriptor
    /// The file's size. It stays locked while a system call appends to the file or truncates it. Otherwise, two appends
    /// could overwrite each other.
    private let size: LockedValue<Int>

    fileprivate init(_ file: consuming Descriptor, size: Int) {
        self.file = file
        self.size = LockedValue(size)
    }

    /// The file size in bytes.
    package var byteCount: Int { size.withLock { $0 } }

    /// Appends bytes. After a failure, removes the bytes that were already written. If they cannot be removed, they
    /// remain at the file's end.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try size.withLock { size throws(SystemError) in
            try write(bytes, at: size)
            size += bytes.count
        }
    }

    private func write(_ bytes: [UInt8], at start: Int) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                pwrite(file.rawValue, buffer.baseAddress! + offset, buffer.count - offset, off_t(start + offset))
            }
            let code = errno
            if result < 0, code == EINTR { continue }
            guard result > 0 else {
                _ = ftruncate(file.rawValue, off_t(start))
                throw SystemError(errno: result == 0 ? ENOSPC : code, call: "write")
            }
            offset += result
        }
    }

    /// Waits until the content is on disk.
    package func synchronize() throws(SystemError) {
        guard fdatasync(file.rawValue) == 0 else { throw SystemError(errno: errno, call: "fdatasync") }
    }

    /// Removes all bytes after the first `byteCount`.
    package func truncate(to byteCount: Int) throws(SystemError) {
        try size.withLock { size throws(SystemError) in
            guard ftruncate(file.rawValue, off_t(byteCount)) == 0 else {
                throw SystemError(errno: errno, call: "ftruncate")
            }
            size = byteCount
        }
    }

    /// Returns the whole content.
    package func content() -> [UInt8] { SystemFile.content(of: file, size: byteCount) }
}

extension PrivateDirectory {
    /// The number of bytes copied at a time.
    private static let pieceByteCount = 256 << 10

    /// Opens a directory, and creates it if needed.
    ///
    /// - Throws: `SystemError` with the reason, see ``init(path:isCreated:)``.
    package static func open(_ path: String) throws(SystemError) -> PrivateDirectory {
        try PrivateDirectory(path: path)
    }

    /// Opens a file for appending, and creates it if needed.
    ///
    /// - Throws: `SystemError`; `EPERM` for a file that others can write, that has another hard link, or that is not a
    ///   regular file.
    package func appendFile(_ name: String) throws(SystemError) -> AppendFile {
        guard let file = self.open(name, isCreated: true) else { throw SystemError(errno: errno, call: "open") }
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard Self.isOwn(facts) else { throw SystemError(errno: EPERM, call: "open") }
        return AppendFile(file, size: Int(facts.st_size))
    }

    /// Replaces a file, or creates it. When the call returns, the new content and the name are on disk. After a failure
    /// the old file is unchanged, with one exception: if only the final synchronization of the directory fails, the
    /// file has the new content.
    package func replaceDurably(_ name: String, with pieces: [[UInt8]]) throws(SystemError) {
        try writeDurably(name) { (number) throws(SystemError) in
            for piece in pieces { try Self.writeAll(piece, to: number) }
        }
    }

    /// Replaces a file for appending, or creates it. The result is the new file, which is opened before it gets its
    /// name: the caller never keeps a file that is no longer in the directory.
    ///
    /// - Returns: The new file, and the error of the directory's synchronization; `nil` if the new file is durable.
    ///   After such an error, a power failure may bring the old file back.
    /// - Throws: `SystemError`; the old file is then unchanged.
    package func replaceAppendFile(
        _ name: String, with pieces: [[UInt8]]
    ) throws(SystemError) -> (file: AppendFile, failure: SystemError?) {
        let new = try writeAndRename(name) { (number) throws(SystemError) in
            for piece in pieces { try Self.writeAll(piece, to: number) }
        }
        let file = AppendFile(new, size: pieces.reduce(0) { $0 + $1.count })
        do throws(SystemError) {
            try synchronize()
            return (file, nil)
        } catch {
            return (file, error)
        }
    }

    /// Copies one of the program's files to a new file in this directory. When the call returns, the copy is on disk.
    ///
    /// - Parameters:
    ///   - path: The source file.
    ///   - name: The new file's name.
    ///   - limit: The maximum number of bytes.
    /// - Returns: The number of bytes; `nil` if the file is longer than `limit`.
    package func copyDurably(_ path: String, to name: String, limit: Int) throws(SystemError) -> Int? {
        let number = Self.retrying { openRead(path) }
        guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
        let source = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(source.rawValue, &facts) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError(errno: EINVAL, call: "open") }
        guard facts.st_size <= limit else { return nil }
        var count = 0
        try writeDurably(name) { (number) throws(SystemError) in
            while count <= limit {
                let piece = try Self.read(source.rawValue, at: count)
                if piece.isEmpty { return }
                try Self.writeAll(piece, to: number)
                count += piece.count
            }
        }
        guard count <= limit else {
            remove(name)
            return nil
        }
        return count
    }

    private static func read(_ number: CInt, at offset: Int) throws(SystemError) -> [UInt8] {
        var code: CInt = 0
        let piece = [UInt8](unsafeUninitializedCapacity: pieceByteCount) { buffer, count in
            while true {
                let result = pread(number, buffer.baseAddress!, buffer.count, off_t(offset))
                code = result < 0 ? errno : 0
                if code == EINTR { continue }
                count = max(result, 0)
                return
            }
        }
        guard code == 0 else { throw SystemError(errno: code, call: "read") }
        return piece
    }

    private static func writeAll(_ bytes: [UInt8], to number: CInt) throws(SystemError) {
        errno = 0
        guard write(bytes, to: number) else { throw SystemError(errno: errno == 0 ? ENOSPC : errno, call: "write") }
    }

    /// Writes a temporary file, synchronizes it, renames it to `name` and synchronizes the directory.
    private func writeDurably(_ name: String, _ body: (CInt) throws(SystemError) -> Void) throws(SystemError) {
        _ = try writeAndRename(name, body)
        try synchronize()
    }

    /// Waits until the directory's names are on disk. Otherwise a replaced file could reappear after a power failure.
    private func synchronize() throws(SystemError) {
        guard fsync(descriptor.rawValue) == 0 else { throw SystemError(errno: errno, call: "fsync") }
    }

    /// Writes a temporary file, synchronizes it and renames it to `name`. Returns the open file.
    private func writeAndRename(
        _ name: String, _ body: (CInt) throws(SystemError) -> Void
    ) throws(SystemError) -> Descriptor {
        let temporary = "\(Self.temporaryPrefix)\(getpid())-\(UInt64.random(in: .min ... .max))"
        let number = Self.retrying {
            openat(descriptor.rawValue, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
        let file = Descriptor(adopting: number)
        do throws(SystemError) {
            try body(number)
            guard fsync(number) == 0 else { throw SystemError(errno: errno, call: "fsync") }
            guard renameat(descriptor.rawValue, temporary, descriptor.rawValue, name) == 0 else {
                throw SystemError(errno: errno, call: "rename")
            }
        } catch {
            remove(temporary)
            throw error
        }
        return file
    }

    /// Returns a file's size, and its modification time in nanoseconds since 1970.
    package static func facts(of path: String) throws(SystemError) -> (byteCount: Int, changed: Int64) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw SystemError(errno: errno, call: "stat") }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError(errno: EINVAL, call: "stat") }
        return (Int(facts.st_size), time(facts))
    }
}

/// Calls open(2). Inside ``PrivateDirectory``, the name `open` refers to a method of that type.
private func openRead(_ path: String) -> CInt { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
