/// A file's type, permissions and size (stat(2)).
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable { case regular, directory, symbolicLink, other }

    package let kind: Kind
    /// The permission bits, such as `0o600`.
    package let permissions: Int
    /// The size in bytes.
    package let byteCount: Int

    /// Examines the file at a path. Does not follow a symbolic link. Returns `nil` if there is no such file.
    ///
    /// - Throws: `SystemError` for every other error, for example if a directory on the path cannot be searched.
    package init?(_ path: String) throws(SystemError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT else { throw SystemError(errno: errno, call: "lstat") }
            return nil
        }
        kind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        permissions = Int(found.st_mode & 0o7777)
        byteCount = Int(found.st_size)
    }
}
