internal import CCausewayLinux

/// Reads and renames files in directories that other users and processes may use too.
package enum SystemFile {
    /// Renames a file within its file system, in one step, unless the new name exists. Blocks.
    ///
    /// On file systems that cannot do this in one step (NFS, some FUSE file systems), both names exist for a moment. On
    /// file systems without hard links, another process may create a file with the new name in the meantime; that file
    /// is then replaced.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - newName: The new name.
    ///   - directory: The descriptor of the directory for relative names; by default the working directory.
    /// - Throws: `SystemError` with `EEXIST` if the new name exists. The file then keeps its name.
    package static func rename(
        _ name: String, toNew newName: String, in directory: CInt = AT_FDCWD
    ) throws(SystemError) {
        try check(cw_rename_new(directory, name, newName), "renameat2")
    }

    /// Returns a regular file's content; `nil` if it cannot be read or is longer than `limit`. Blocks.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(adopting: number)
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= limit else {
            return nil
        }
        return content(of: file, size: Int(facts.st_size))
    }

    /// Returns the first `size` bytes of a file. Returns fewer bytes if the file has become shorter.
    static func content(of file: borrowing Descriptor, size: Int) -> [UInt8] {
        let number = file.rawValue
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let result = pread(number, buffer.baseAddress! + count, size - count, off_t(count))
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { break }
                count += result
            }
        }
    }
}
