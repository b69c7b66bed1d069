internal import CausewaySystem

/// A small file that only its user can read, and that several processes may change.
///
/// Calls block. Readers see either the old or the new content. Writers take a lock file.
struct PrivateFile: Sendable {
    /// The maximum file size in bytes. A larger file is treated as empty.
    static let maximumByteCount = 16 << 20

    /// The file's directory. It must belong to the user, and other users must not have access to it.
    let directory: String
    let name: String

    /// Returns the file's content. Returns `nil` if the file is missing, unreadable or larger than
    /// ``maximumByteCount``, or if another user could have changed it.
    func read() -> [UInt8]? { PrivateDirectory(directory, isCreated: false).flatMap { content(in: $0) } }

    private func content(in directory: PrivateDirectory) -> [UInt8]? {
        directory.read(name, limit: Self.maximumByteCount)?.content
    }

    /// Replaces the content. No other process can change it during the call.
    ///
    /// - Parameter change: Returns the new content for the old content, which is empty if nothing was stored.
    /// - Returns: `false` if the file could not be read or written, or another process kept the lock for two seconds.
    func update(_ change: ([UInt8]) -> [UInt8]) -> Bool {
        guard let directory = PrivateDirectory(directory) else { return false }
        directory.removeAbandoned(directory.list() ?? [])
        let isWritten = directory.whileLocked(name + ".lock") { () -> Bool in
            let old = content(in: directory)
            // A file may exist although it cannot be read now, for example because no descriptor is free. Do not treat
            // it as empty: the new content would then replace all its content.
            if old == nil, let size = directory.size(of: name), size <= Self.maximumByteCount { return false }
            return directory.replace(name, with: [change(old ?? [])], isSynchronized: true)
        }
        return isWritten ?? false
    }
}
