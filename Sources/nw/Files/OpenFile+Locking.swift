import CausewaySystem

/// Advisory locks that show other processes that a file is in use. The kernel releases the locks when the process ends,
/// even after a crash.
extension OpenFile {
    enum Lock: Equatable, Sendable {
        case taken
        case heldByAnother
        /// The file system does not support locks.
        case unavailable
    }

    /// Takes an exclusive lock on the file, without waiting.
    func lock() -> Lock {
        var result: Int32
        repeat { result = flock(descriptor, LOCK_EX | LOCK_NB) } while result != 0 && errno == EINTR
        if result == 0 { return .taken }
        return errno == EWOULDBLOCK ? .heldByAnother : .unavailable
    }

    /// Whether the file still has a directory entry.
    var isLinked: Bool { status.map { $0.st_nlink > 0 } ?? false }

    /// Returns whether the path still names this file.
    func isFile(at path: String) -> Bool {
        var named = stat()
        guard let own = status, lstat(path, &named) == 0 else { return false }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }

    /// Whether this is a regular file owned by this process's user.
    var isOwnRegularFile: Bool {
        status.map { $0.st_mode & S_IFMT == S_IFREG && $0.st_uid == geteuid() } ?? false
    }

    private var status: stat? {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? information : nil
    }
}
