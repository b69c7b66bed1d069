import Causeway
import CausewaySystem

/// Functions that change directory entries atomically.
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
        guard lstat(path, &information) != 0 else { return true }
        let code = errno
        // No file can have a name that is too long.
        return code != ENOENT && code != ENOTDIR && code != ENAMETOOLONG
    }

    /// Returns the names in a directory that begin with `prefix`, unsorted.
    static func names(in directory: String, beginningWith prefix: String) throws(NWError) -> [String] {
        guard let stream = opendir(directory) else { throw NWError(errno: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // readdir(3) returns no entry both at the end and after an error. Only an error changes `errno`.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name.hasPrefix(prefix) { names.append(name) }
        }
        guard errno == 0 else { throw NWError(errno: errno) }
        return names
    }

    /// Returns a file's permission bits; `nil` if there is no such file.
    static func permissions(of path: String) throws(NWError) -> mode_t? {
        var information = stat()
        if stat(path, &information) == 0 { return information.st_mode & 0o7777 }
        guard errno == ENOENT else { throw NWError(errno: errno) }
        return nil
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
