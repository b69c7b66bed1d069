import Causeway
import CausewaySystem

/// Atomic changes of directory entries.
enum DirectoryEntries {
    /// Renames the file `source` to `destination`, replacing an existing file.
    static func move(_ source: String, to destination: String) throws(NWError) {
        guard rename(source, destination) == 0 else { throw NWError(errno: errno) }
    }

    /// Renames the file `source` to `destination` unless that name exists.
    ///
    /// - Throws: `.posix(.EEXIST)` if the name exists. The file then keeps its old name.
    static func moveWithoutReplacing(_ source: String, to destination: String) throws(NWError) {
        do {
            try SystemFile.rename(source, toNew: destination)
        } catch {
            throw NWError(errno: error.errno)
        }
    }

    /// Removes a file. A missing file is not an error.
    static func removeFile(_ path: String) throws(NWError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw NWError(errno: errno) }
    }

    /// Returns whether a file exists. A file that cannot be examined counts as existing, for example in a directory
    /// that cannot be searched.
    static func exists(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    /// Returns the names in a directory that begin with `prefix`, unsorted.
    static func names(in directory: String, beginningWith prefix: String) throws(NWError) -> [String] {
        do throws(SystemError) {
            return try DirectoryStream.names(in: directory).filter { $0.hasPrefix(prefix) }
        } catch {
            throw NWError(errno: error.errno)
        }
    }

    /// Creates a directory under `/tmp` (or `TMPDIR`) that only this user can access, and returns its path.
    static func makeTemporaryDirectory(named prefix: String) throws(NWError) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(prefix).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NWError(errno: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes an empty directory.
    static func removeDirectory(_ path: String) throws(NWError) {
        guard rmdir(path) == 0 else { throw NWError(errno: errno) }
    }
}
