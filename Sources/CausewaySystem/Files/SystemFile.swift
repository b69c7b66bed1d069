/// Reads files that this process did not write.
package enum SystemFile {
    /// Returns the content of a regular file; `nil` if it cannot be read or is longer than `limit`. Blocks.
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

    /// Returns at most `size` bytes of a file, fewer if it has become shorter.
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
