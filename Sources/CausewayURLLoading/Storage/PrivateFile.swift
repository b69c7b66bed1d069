internal import CausewaySystem
internal import Foundation

/// A small file that only its user can read, and that several processes may change.
///
/// Calls block. A new content is written to a second file, which then replaces the first, so that readers see either the old or the new
/// content. A lock file keeps writers apart.
struct PrivateFile: Sendable {
    /// The maximum size of a file, in bytes. A larger file is treated as empty.
    static let maximumByteCount = 16 << 20
    /// The number of attempts to get the lock, 10 ms apart.
    private static let lockAttempts = 200

    let path: String

    /// Returns the content; `nil` if there is none. A file that belongs to another user, that others may write, or that is no regular file
    /// has none.
    func read() -> [UInt8]? {
        SystemFile.read(path, limit: Self.maximumByteCount) { facts in
            facts.st_uid == geteuid() && facts.st_mode & 0o022 == 0
        }
    }

    /// Replaces the content while no other process changes it.
    ///
    /// - Parameter change: Returns the new content for the old one, which is empty if there is none.
    /// - Returns: `false` if the file could not be written, or another process kept the lock for two seconds.
    func update(_ change: ([UInt8]) -> [UInt8]) -> Bool {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard lock >= 0 else { return false }
        // Closing the file releases the lock.
        defer { close(lock) }
        guard Self.takeLock(lock) else { return false }
        return replace(with: change(read() ?? []))
    }

    private static func takeLock(_ descriptor: Int32) -> Bool {
        for _ in 0..<lockAttempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    private func replace(with content: [UInt8]) -> Bool {
        let new = path + ".new"
        // A process that ended while it wrote can have left the file.
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard descriptor >= 0 else { return false }
        let isWritten = Self.write(content, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(new, path) == 0 else {
            unlink(new)
            return false
        }
        return true
    }

    private static func write(_ content: [UInt8], to descriptor: Int32) -> Bool {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { CausewaySystem.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
