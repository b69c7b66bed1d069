internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// A regular file sent as response content. The file is closed when all references to this object are released.
final class ServedFile: Sendable {
    private let descriptor: Int32
    /// The file size in bytes when it was opened.
    let length: Int
    private let modified: timespec

    /// - Throws: ``HTTPServerError`` with status 404 if there is no such file; otherwise see ``failure(_:)``.
    convenience init(opening path: String) throws(HTTPServerError) {
        // Open with O_NONBLOCK. Without this flag, the call would wait for a writer if the path is a named pipe.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw Self.failure(errno) }
        var information = stat()
        guard fstat(opened, &information) == 0 else {
            let code = errno
            close(opened)
            throw Self.failure(code)
        }
        try self.init(adopting: opened, information)
    }

    /// Takes over an open file.
    ///
    /// - Throws: ``HTTPServerError`` with status 404 if it is not a regular file.
    init(adopting descriptor: Int32, _ information: stat) throws(HTTPServerError) {
        guard information.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw HTTPServerError(status: 404)
        }
        self.descriptor = descriptor
        length = Int(information.st_size)
        modified = information.st_mtim
    }

    deinit { close(descriptor) }

    /// Returns the error for a file or directory that cannot be opened or read. The status is 404 if it does not exist
    /// or is of another type, 403 if permission is denied, 503 if descriptors or memory are short, and 500 otherwise.
    static func failure(_ code: Int32) -> HTTPServerError {
        switch code {
        case EACCES, EPERM, ELOOP: HTTPServerError(status: 403)
        case EMFILE, ENFILE, ENOMEM: HTTPServerError(status: 503)
        case ENOENT, ENOTDIR, ENAMETOOLONG, ENXIO, ENODEV: HTTPServerError(status: 404)
        default: HTTPServerError(status: 500)
        }
    }

    /// An entity tag made from the modification time and the length (RFC 9110 §8.8.3.1).
    var entityTag: String {
        "\"\(String(modified.tv_sec, radix: 16))-\(String(modified.tv_nsec, radix: 16))-\(String(length, radix: 16))\""
    }

    /// The modification time as an HTTP date.
    var lastModified: String { HTTPDate.text(modified.tv_sec) }

    /// Reads bytes from a position. Returns fewer than `count` only at the end of the file.
    ///
    /// - Throws: ``HTTPServerError`` with status 500 if the file cannot be read.
    func read(_ count: Int, at position: Int) throws(HTTPServerError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let result = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(position + filled))
                if result < 0, errno == EINTR { continue }
                failed = result < 0
                guard result > 0 else { return }
                filled += result
            }
        }
        if failed { throw HTTPServerError(status: 500) }
        return bytes
    }
}
