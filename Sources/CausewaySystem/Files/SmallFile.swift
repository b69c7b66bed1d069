import CCausewayLinux

/// Reads small configuration files.
enum SmallFile {
    /// The maximum number of bytes to read. The rest of a longer file is not read. Configuration files are usually
    /// shorter.
    static let limit = 64 * 1024

    /// Returns the file's text, with malformed UTF-8 replaced; `nil` if the file cannot be read.
    static func text(_ path: String, limit: Int = limit) -> String? {
        var number: CInt
        repeat { number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } while number < 0 && errno == EINTR
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(adopting: number)
        var failed = false
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let room = min(Self.limit, limit - bytes.count)
            let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                var result: Int
                repeat {
                    result = read(descriptor.rawValue, buffer.baseAddress!, room)
                } while result < 0 && errno == EINTR
                failed = result < 0
                count = max(0, result)
            }
            guard !piece.isEmpty else { break }
            bytes += piece
        }
        return failed ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
