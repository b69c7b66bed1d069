internal import CausewaySystem
internal import Foundation

/// The temporary file of a download.
final class FileSink: Sendable {
    let url: URL
    private let handle: LockedValue<FileHandle?>

    /// Creates an empty file in the temporary directory.
    init() throws(LoadFailure) {
        url = Self.newURL()
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw LoadFailure(.fileNotCreated) }
        do {
            handle = LockedValue(try FileHandle(forWritingTo: url))
        } catch {
            throw LoadFailure(.fileNotOpened, underlying: error)
        }
    }

    /// Opens the file of an earlier download, and removes what follows the first `offset` bytes. Returns `nil` if they are not there.
    init?(continuing url: URL, at offset: Int64) {
        guard Self.holds(offset, at: url), let file = try? FileHandle(forWritingTo: url),
            (try? file.truncate(atOffset: UInt64(offset))) != nil
        else { return nil }
        self.url = url
        handle = LockedValue(file)
    }

    /// Returns whether a regular file has at least this many bytes.
    static func holds(_ count: Int64, at url: URL) -> Bool {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: url.path),
            facts[.type] as? FileAttributeType == .typeRegular, let size = facts[.size] as? NSNumber
        else { return false }
        return size.int64Value >= count
    }

    /// Returns the URL of a new file in the temporary directory.
    static func newURL() -> URL {
        let name = UUID().uuidString.prefix(8)
        return FileManager.default.temporaryDirectory.appendingPathComponent("CFNetworkDownload_\(name).tmp")
    }

    func write(_ data: Data) throws(LoadFailure) {
        do {
            try handle.withLock { $0 }?.write(contentsOf: data)
        } catch {
            throw LoadFailure(.fileNotWritten, underlying: error)
        }
    }

    func close() throws(LoadFailure) {
        let handle = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        do {
            try handle?.close()
        } catch {
            throw LoadFailure(.fileNotClosed, underlying: error)
        }
    }

    /// Closes and removes the file. Does not fail if the program has moved the file.
    func remove() {
        try? close()
        try? FileManager.default.removeItem(at: url)
    }
}
