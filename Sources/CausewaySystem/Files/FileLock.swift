internal import CCausewayLinux

/// A file lock that this process holds until the object is released. The kernel releases the lock when the process
/// ends, even by a crash.
package final class FileLock: Sendable {
    private let file: Descriptor

    fileprivate init(_ file: consuming Descriptor) { self.file = file }

    // Unlock the file before it is closed. A child that was just forked has the same file open. Without this call, the
    // child would keep the lock until it runs its program.
    deinit { _ = cw_unlock_file(file.rawValue) }
}

extension PrivateDirectory {
    /// Locks a file, and creates it if needed. Does not wait.
    ///
    /// - Returns: `nil` if another process or another object in this process holds the lock.
    /// - Throws: `SystemError` if the file cannot be used, so that it is not known whether the lock is held.
    package func claim(_ name: String) throws(SystemError) -> FileLock? {
        guard let file = open(name, isCreated: true) else { throw SystemError(errno: errno, call: "open") }
        let result = cw_lock_file(file.rawValue)
        if result == -EAGAIN || result == -EACCES { return nil }
        try check(result, "fcntl")
        return FileLock(file)
    }

    /// Locks a file like ``claim(_:)``; `nil` also if the file cannot be used.
    package func lock(_ name: String) -> FileLock? {
        do throws(SystemError) { return try claim(name) } catch { return nil }
    }

    /// Returns whether another process or an object in this process holds the lock. Does not take the lock.
    package func isLocked(_ name: String) -> Bool {
        guard let file = open(name, isCreated: false) else { return false }
        return cw_file_is_locked(file.rawValue) > 0
    }
}
