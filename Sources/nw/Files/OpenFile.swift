import Causeway
import CausewaySystem

/// A file, pipe or terminal opened by this process. It is closed when the value is destroyed.
///
/// Every call may block the calling thread, so never call these methods on an event loop.
struct OpenFile: ~Copyable, Sendable {
    /// An open file's kind.
    enum Kind: Equatable, Sendable {
        /// A file on disk with its size at the time of the call, in bytes.
        case regular(byteCount: UInt64)
        case terminal
        /// A pipe, socket, device or directory.
        case other
    }

    let descriptor: Int32
    /// Whether to close the file when the value is destroyed. `false` for the standard streams, which stay open.
    private let closesAtEnd: Bool

    static var standardInput: OpenFile { OpenFile(descriptor: 0, closesAtEnd: false) }
    static var standardOutput: OpenFile { OpenFile(descriptor: 1, closesAtEnd: false) }
    static var standardError: OpenFile { OpenFile(descriptor: 2, closesAtEnd: false) }

    private init(descriptor: Int32, closesAtEnd: Bool) {
        self.descriptor = descriptor
        self.closesAtEnd = closesAtEnd
    }

    /// Opens an existing file for reading.
    ///
    /// - Throws: `.posix` with the code of `open(2)`, for example `.ENOENT`.
    init(reading path: String) throws(NWError) {
        try self.init(path, O_RDONLY | O_CLOEXEC)
    }

    /// Opens a directory. Only ``synchronize()`` can be called on it.
    init(directory path: String) throws(NWError) {
        try self.init(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    }

    /// Creates a file that must not exist yet, with permissions according to the process's `umask`.
    ///
    /// - Parameter isPrivate: Whether only this user can read it.
    /// - Throws: `.posix(.EEXIST)` if the name exists, even as a dangling symbolic link.
    init(creating path: String, isPrivate: Bool = false) throws(NWError) {
        try self.init(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
    }

    /// Opens a file for writing, and creates it if it is missing.
    ///
    /// - Parameters:
    ///   - position: The number of bytes to keep; `nil` to replace all content.
    ///   - followsLinks: Whether the name may be a symbolic link.
    init(storingAt path: String, keeping position: UInt64?, followsLinks: Bool) throws(NWError) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
        try self.init(path, position == nil ? flags | O_TRUNC : flags)
        if let position { cut(to: Int(clamping: position)) }
    }

    /// Opens a file for writing without changing it, and creates it if it is missing. Does not follow a symbolic link.
    init(updating path: String) throws(NWError) {
        try self.init(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Opens an existing file to inspect or lock it. Does not follow a symbolic link, and does not wait for the other end of a pipe.
    init(inspecting path: String) throws(NWError) {
        try self.init(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }

    private init(_ path: String, _ flags: Int32, _ mode: mode_t = 0o666) throws(NWError) {
        var opened: Int32
        repeat { opened = open(path, flags, mode) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw NWError(errno: errno) }
        self.init(descriptor: opened, closesAtEnd: true)
    }

    deinit {
        guard closesAtEnd else { return }
        // Unlock the file explicitly. If another thread has just forked a child process, the child also has the file
        // open until it calls exec, and closing the file here would leave it locked.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    var kind: Kind {
        if isatty(descriptor) == 1 { return .terminal }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return .other }
        return .regular(byteCount: UInt64(max(0, information.st_size)))
    }

    /// Reads once. Returns the number of bytes stored, 0 at the end of the file.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(NWError) -> Int {
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            try recover(from: errno, waitingFor: POLLIN)
        }
    }

    /// Writes all bytes, with as many calls as needed.
    func writeAll(_ bytes: UnsafeRawBufferPointer) throws(NWError) {
        var rest = bytes[...]
        while let first = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = write(descriptor, first, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try recover(from: errno, waitingFor: POLLOUT)
            }
        }
    }

    /// Truncates the file; later writes continue at its new end. Has no effect on files that cannot be truncated, such
    /// as pipes.
    func cut(to byteCount: Int) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { return }
        lseek(descriptor, off_t(byteCount), SEEK_SET)
    }

    /// Blocks until the written data is on the disk.
    func synchronize() throws(NWError) {
        guard fsync(descriptor) == 0 else { throw NWError(errno: errno) }
    }

    /// If the file is not ready (`EAGAIN`), waits until it is. A standard stream may be in non-blocking mode although
    /// this process did not set this mode: another process that shares the stream can set it.
    private func recover(from code: Int32, waitingFor events: Int32) throws(NWError) {
        if code == EINTR { return }
        guard code == EAGAIN else { throw NWError(errno: code) }
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = poll(&request, 1, -1)
    }
}
