internal import CausewaySystem

/// Reads files that this process did not write.
enum SystemFile {
    /// Returns the content of a regular file; `nil` if it cannot be read or is longer than `limit`. Blocks.
    ///
    /// - Parameters:
    ///   - path: The path, whose last component must not be a symbolic link unless `isTrusted` is omitted.
    ///   - limit: The maximum size in bytes.
    ///   - isTrusted: Returns whether a file with these attributes may be read.
    static func read(_ path: String, limit: Int, where isTrusted: ((stat) -> Bool)? = nil) -> [UInt8]? {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (isTrusted == nil ? 0 : O_NOFOLLOW)
        let descriptor = open(path, flags)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= limit,
            isTrusted?(facts) ?? true
        else { return nil }
        return content(of: descriptor, count: Int(facts.st_size))
    }

    private static func content(of descriptor: Int32, count size: Int) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: size)
        var count = 0
        while count < size {
            let start = count
            let taken = content.withUnsafeMutableBytes { bytes in
                CausewaySystem.read(descriptor, bytes.baseAddress?.advanced(by: start), size - start)
            }
            if taken < 0, errno == EINTR { continue }
            guard taken > 0 else { break }
            count += taken
        }
        return Array(content.prefix(count))
    }
}
