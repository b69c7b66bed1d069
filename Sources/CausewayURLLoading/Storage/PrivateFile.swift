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

    /// Returns the file's content. Returns `nil` if the file is missing or larger than ``maximumByteCount``, or if
    /// another user could have changed it.
    ///
    /// - Throws: `SystemError` if the file cannot be read now, or if its directory cannot be used.
    func contents() throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try content(in: PrivateDirectory(path: directory, isCreated: false))
        } catch {
            if error.errno == Errno.noEntry { return nil }
            throw error
        }
    }

    /// Returns the file's content like ``contents()``; `nil` also if the file cannot be read now.
    func read() -> [UInt8]? {
        do throws(SystemError) { return try contents() } catch { return nil }
    }

    private func content(in directory: PrivateDirectory) throws(SystemError) -> [UInt8]? {
        try directory.contents(of: name, limit: Self.maximumByteCount)?.content
    }

    /// Replaces the content. No other process can change it during the call.
    ///
    /// - Parameter change: Returns the new content for the old content, which is empty if nothing was stored.
    /// - Returns: `false` if the file could not be read or written, or another process kept the lock for two seconds.
    func update(_ change: ([UInt8]) -> [UInt8]) -> Bool {
        guard let directory = PrivateDirectory(directory) else { return false }
        directory.removeAbandoned(directory.list() ?? [])
        let isWritten = directory.whileLocked(name + ".lock") { () -> Bool in
            do throws(SystemError) {
                let old = try content(in: directory) ?? []
                return directory.replace(name, with: [change(old)], isSynchronized: true)
            } catch {
                // The file may exist although it cannot be read now, for example because no descriptor is free. It does
                // not count as empty: the new content would then replace all its content.
                return false
            }
        }
        return isWritten ?? false
    }
}
