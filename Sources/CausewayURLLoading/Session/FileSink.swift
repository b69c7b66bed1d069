internal import CausewaySystem
internal import Foundation

/// A download's temporary file. An open file is locked, so that no other download continues it.
final class FileSink: Sendable {
    let url: URL
    private let handle: LockedValue<FileHandle?>

    /// Creates an empty file in the temporary directory. Other users may share this directory, so the file must be new
    /// and only this user can open it.
    init() throws(LoadFailure) {
        url = Self.newURL()
        guard let file = Self.open(url, O_WRONLY | O_CREAT | O_EXCL) else { throw LoadFailure(.fileNotCreated) }
        handle = LockedValue(file)
    }

    /// Creates an empty file in a background session's directory. The file is not locked, because the session's lock
    /// protects it.
    init(new url: URL) throws(LoadFailure) {
        self.url = url
        guard let file = Self.open(url, O_WRONLY | O_CREAT | O_EXCL, isLocked: false) else {
            throw LoadFailure(.fileNotCreated)
        }
        handle = LockedValue(file)
    }

    /// Opens an earlier download's file, and truncates it to the first `offset` bytes. Returns `nil` if the file is
    /// shorter, or if another download uses it.
    ///
    /// - Parameter isLocked: Whether the file is locked. The files of background sessions are not locked, see
    ///   ``init(new:)``.
    init?(continuing url: URL, at offset: Int64, isLocked: Bool = true) {
        guard let file = Self.open(url, O_WRONLY, isLocked: isLocked) else { return nil }
        guard Self.size(of: file.fileDescriptor) ?? -1 >= offset,
            (try? file.truncate(atOffset: UInt64(offset))) != nil
        else {
            // Unlock the file, as in ``close()``. The caller removes it, which needs the lock.
            if isLocked { _ = flock(file.fileDescriptor, LOCK_UN) }
            return nil
        }
        self.url = url
        handle = LockedValue(file)
    }

    /// Opens a file, and optionally locks it. Follows no symbolic link, and accepts only a regular file of this user.
    private static func open(_ url: URL, _ flags: Int32, isLocked: Bool = true) -> FileHandle? {
        let descriptor = openFile(url.path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard size(of: descriptor) != nil else { return nil }
        return !isLocked || flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? file : nil
    }

    /// Returns an open file's size; `nil` if it is not a regular file of this user.
    private static func size(of descriptor: Int32) -> Int64? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid() else {
            return nil
        }
        return Int64(facts.st_size)
    }

    /// Returns the size of a file; `nil` if there is no regular file of this user at the URL.
    static func size(of url: URL) -> Int64? {
        let descriptor = openFile(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { closeFile(descriptor) }
        return size(of: descriptor)
    }

    /// Removes the file of an earlier download, unless another download is using it.
    static func remove(_ url: URL) {
        guard let file = open(url, O_WRONLY) else { return }
        withExtendedLifetime(file) { try? FileManager.default.removeItem(at: url) }
    }

    /// Returns a URL for a new file in the temporary directory.
    static func newURL() -> URL {
        let name = UUID().uuidString.prefix(8)
        return FileManager.default.temporaryDirectory.appendingPathComponent("CFNetworkDownload_\(name).tmp")
    }

    func write(_ data: Data) throws(LoadFailure) {
        do {
            try handle.withLock { $0 }?.write(contentsOf: data)
        } catch {
            throw LoadFailure(.fileNotWritten, underlying: error)
        }
    }

    /// Synchronizes the content to disk. Returns whether that succeeded. Blocks.
    func synchronize() -> Bool {
        guard let handle = handle.withLock({ $0 }) else { return false }
        return (try? handle.synchronize()) != nil
    }

    func close() throws(LoadFailure) {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        // The file is unlocked explicitly. Otherwise a forked child would keep the lock until it calls `exec`.
        if let handle { _ = flock(handle.fileDescriptor, LOCK_UN) }
        do {
            try handle?.close()
        } catch {
            throw LoadFailure(.fileNotClosed, underlying: error)
        }
    }

    /// Closes the file and removes it. If the program has already moved the file, this is no error.
    func remove() {
        try? close()
        try? FileManager.default.removeItem(at: url)
    }
}

/// Calls close(2), whose name a method of the class hides.
private func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

/// Calls open(2), and repeats interrupted calls. The class cannot call open(2) directly, because its own method hides
/// the name.
private func openFile(_ path: String, _ flags: Int32) -> Int32 {
    while true {
        let descriptor = open(path, flags, 0o600)
        if descriptor >= 0 || errno != EINTR { return descriptor }
    }
}
