internal import CausewaySystem
internal import FoundationEssentials

/// A file or directory below another directory, opened without following symbolic links.
///
/// Each component is opened on its own, relative to the previous component. So a component that another process
/// replaces in the meantime cannot lead out of the directory.
final class DirectoryWalk {
    private(set) var descriptor: Int32
    let information: stat

    /// - Throws: ``HTTPServerError`` with status 404 or 403.
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
        descriptor = current
        var information = stat()
        // If `fstat` fails, the file type in `information` stays 0. That is neither a regular file nor a directory.
        fstat(current, &information)
        self.information = information
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var isDirectory: Bool { information.st_mode & S_IFMT == S_IFDIR }

    /// Passes the open descriptor to a new ``ServedFile``, which closes it later.
    ///
    /// - Throws: ``HTTPServerError`` with status 404 if the descriptor does not belong to a regular file.
    func takeFile() throws(HTTPServerError) -> ServedFile {
        let taken = descriptor
        descriptor = -1
        return try ServedFile(adopting: taken, information)
    }

    func contains(_ name: String) -> Bool {
        var information = stat()
        return fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// A directory entry.
    struct Entry {
        var name: String
        var isDirectory: Bool
        var byteCount: Int
        var modified: Int
    }

    /// The maximum number of entries in a listing.
    private static let maximumCount = 10_000

    /// Returns the files and directories that are not hidden, directories first.
    func entries() throws(HTTPServerError) -> [Entry] {
        let copy = openat(descriptor, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard copy >= 0 else { throw ServedFile.failure(errno) }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw HTTPServerError(status: 500)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while entries.count < Self.maximumCount, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var information = stat()
            guard let name, name.utf8.first != UInt8(ascii: "."),
                fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
            else { continue }
            let kind = information.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { continue }
            entries.append(
                Entry(
                    name: name, isDirectory: kind == S_IFDIR, byteCount: Int(information.st_size),
                    modified: information.st_mtim.tv_sec))
        }
        return entries.sorted { ($0.isDirectory ? 0 : 1, $0.name) < ($1.isDirectory ? 0 : 1, $1.name) }
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
