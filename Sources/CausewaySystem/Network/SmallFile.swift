import CCausewayLinux

/// Configuration files of a few lines.
enum SmallFile {
    /// No file read here is nearly as long; what lies behind is passed over.
    static let limit = 64 * 1024

    /// The file's text with malformed UTF-8 repaired; `nil` if the file cannot be read.
    static func text(_ path: String) -> String? {
        var number: CInt
        repeat { number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } while number < 0 && errno == EINTR
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(adopting: number)
        var failed = false
        let octets = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let piece = read(descriptor.rawValue, buffer.baseAddress! + count, limit - count)
                if piece < 0 && errno == EINTR { continue }
                failed = piece < 0
                guard piece > 0 else { break }
                count += piece
            }
        }
        return failed ? nil : String(decoding: octets, as: UTF8.self)
    }
}
