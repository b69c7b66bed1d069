internal import CausewaySystem
internal import FoundationEssentials

/// A file or directory below another directory, opened without following symbolic links.
///
/// Each component is opened on its own, relative to the previous component. So a component that another process
/// replaces in the meantime cannot lead out of the directory.
final class DirectoryWalk {
    private(set) var descriptor: Int32
    let information: stat

    /// - Throws: ``HTTPServerError`` with status 404 if there is no such file; for other errors, see
    ///   ``ServedFile/failure(_:)``.
    init(from root: Int32, _ names: [String]) throws(HTTPServerError) {
        var current = names.isEmpty ? fcntl(root, F_DUPFD_CLOEXEC, 0) : root
        guard current >= 0 else { throw ServedFile.failure(errno) }
        for name in names {
            let next = openat(current, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            let code = errno
            if current != root { close(current) }
            guard next >= 0 else { throw ServedFile.failure(code) }
            current = next
        }
        var information = stat()
        guard fstat(current, &information) == 0 else {
            let code = errno
            close(current)
            throw ServedFile.failure(code)
        }
        descriptor = current
        self.information = information
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var isDirectory: Bool { information.st_mode & S_IFMT == S_IFDIR }

    /// Passes the open descriptor to a new ``ServedFile``, which later closes it.
    ///
    /// - Throws: ``HTTPServerError`` with status 404 if the descriptor does not belong to a regular file.
    func takeFile() throws(HTTPServerError) -> ServedFile {
        let taken = descriptor
        descriptor = -1
        return try ServedFile(adopting: taken, information)
    }

    /// - Throws: ``HTTPServerError`` if the directory cannot be searched.
    func contains(_ name: String) throws(HTTPServerError) -> Bool { try examine(name) != nil }

    /// Returns whether the directory has a regular file with this name.
    ///
    /// - Throws: ``HTTPServerError`` if the directory cannot be searched.
    func containsFile(_ name: String) throws(HTTPServerError) -> Bool {
        guard let found = try examine(name) else { return false }
        return found.st_mode & S_IFMT == S_IFREG
    }

    /// Returns the information about a file; `nil` if there is no such file.
    private func examine(_ name: String) throws(HTTPServerError) -> stat? {
        var found = stat()
        guard fstatat(descriptor, name, &found, AT_SYMLINK_NOFOLLOW) != 0 else { return found }
        guard errno == ENOENT else { throw ServedFile.failure(errno) }
        return nil
    }

    /// An entry in a served directory: a file or a subdirectory.
    struct Entry {
        var name: String
        var isDirectory: Bool
        var byteCount: Int
        var modified: Int
    }

    /// The maximum number of entries in a listing.
    private static let maximumCount = 10_000

    /// Returns the visible entries of the directory. The subdirectories come before the files.
    ///
    /// - Throws: ``HTTPServerError`` if the directory or one of its files cannot be read. An incomplete listing would
    ///   look like a complete one.
    func entries() throws(HTTPServerError) -> [Entry] {
        // The names are read one at a time, so that a directory with millions of files does not fill the memory.
        var stream = try names()
        var entries: [Entry] = []
        while entries.count < Self.maximumCount, let name = try Self.next(in: &stream) {
            // A file that is missing was removed after its name was read.
            guard name.utf8.first != UInt8(ascii: "."), let found = try examine(name) else { continue }
            let kind = found.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { continue }
            entries.append(
                Entry(
                    name: name, isDirectory: kind == S_IFDIR, byteCount: Int(found.st_size),
                    modified: found.st_mtim.tv_sec))
        }
        return entries.sorted { ($0.isDirectory ? 0 : 1, $0.name) < ($1.isDirectory ? 0 : 1, $1.name) }
    }

    private func names() throws(HTTPServerError) -> DirectoryStream {
        do throws(SystemError) { return try DirectoryStream(of: descriptor) } catch {
            throw ServedFile.failure(error.errno)
        }
    }

    private static func next(in names: inout DirectoryStream) throws(HTTPServerError) -> String? {
        do throws(SystemError) { return try names.next() } catch { throw ServedFile.failure(error.errno) }
    }
}

/// A file being uploaded. It has a hidden name until it is complete, and is removed if it does not become complete.
final class NewFile {
    private let folder: DirectoryWalk
    private let name: String
    private let temporaryName: String
    private var descriptor: Int32

    /// - Throws: ``HTTPServerError`` with status 403 or 500.
    init(in folder: DirectoryWalk, named name: String) throws(HTTPServerError) {
        self.folder = folder
        self.name = name
        temporaryName = ".upload-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        descriptor = openat(
            folder.descriptor, temporaryName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o666))
        guard descriptor >= 0 else { throw Self.failure(errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlinkat(folder.descriptor, temporaryName, 0)
    }

    func write(_ piece: Data) throws(HTTPServerError) {
        var rest = Array(piece)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { CausewaySystem.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Renames the file to its final name. Never replaces a file.
    func finish() throws(HTTPServerError) {
        do {
            try SystemFile.rename(temporaryName, toNew: name, in: folder.descriptor)
        } catch {
            throw error.errno == EEXIST ? HTTPServerError(status: 409, "the file exists") : Self.failure(error.errno)
        }
    }

    private static func failure(_ code: Int32) -> HTTPServerError {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: HTTPServerError(status: 507)
        case EACCES, EPERM, EROFS: HTTPServerError(status: 403)
        default: HTTPServerError(status: 500)
        }
    }
}
