/// Reads the names in a directory, one at a time. All calls block.
///
/// A failure is never taken for the end of the directory, because a part of the names would look like all of them.
/// Names that are not UTF-8 are skipped.
package struct DirectoryStream: ~Copyable {
    private let stream: OpaquePointer

    /// Opens the directory at a path. Follows symbolic links.
    ///
    /// - Throws: `SystemError`; `ENOENT` if there is no such directory.
    package init(_ path: String) throws(SystemError) {
        try self.init(adopting: Self.opened(path, in: AT_FDCWD))
    }

    /// Opens a directory again that is already open. Does not use the position of its descriptor.
    package init(of directory: CInt) throws(SystemError) {
        try self.init(adopting: Self.opened(".", in: directory))
    }

    /// Takes over a directory's descriptor. It is closed with the stream, also if the initializer throws.
    init(adopting number: CInt) throws(SystemError) {
        guard let stream = fdopendir(number) else {
            let code = errno
            _ = close(number)
            throw SystemError(errno: code, call: "fdopendir")
        }
        self.stream = stream
    }

    deinit { closedir(stream) }

    private static func opened(_ path: String, in directory: CInt) throws(SystemError) -> CInt {
        while true {
            let number = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if number >= 0 { return number }
            let code = errno
            guard code == EINTR else { throw SystemError(errno: code, call: "open") }
        }
    }

    /// Returns the next name, except `.` and `..`; `nil` at the end.
    package mutating func next() throws(SystemError) -> String? {
        while true {
            errno = 0
            guard let record = readdir(stream) else {
                // At the end, readdir(3) does not set errno.
                let code = errno
                guard code == 0 else { throw SystemError(errno: code, call: "readdir") }
                return nil
            }
            let name = withUnsafeBytes(of: &record.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { return name }
        }
    }

    /// Returns all names in the directory at a path, except `.` and `..`, in no particular order.
    package static func names(in path: String) throws(SystemError) -> [String] {
        var stream = try DirectoryStream(path)
        var names: [String] = []
        while let name = try stream.next() { names.append(name) }
        return names
    }
}
