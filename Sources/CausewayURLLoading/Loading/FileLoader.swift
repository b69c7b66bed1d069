internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Loads `file:` URLs. It reads only while the task wants bytes, so that a slow consumer does not cause unbounded buffering.
final class FileLoader: Loader {
    private struct Progress {
        var handle: FileHandle?
        var hasEnded = false
    }

    /// The number of bytes to read at a time.
    static let pieceSize = 64 * 1024

    private let attempt: LoadAttempt
    private let url: URL
    private let queue = DispatchQueue(label: "causeway.file-loader", target: .global())
    /// The state, which is accessed only on `queue`, except for `hasEnded`.
    private let progress = LockedValue(Progress())

    init(url: URL, for attempt: LoadAttempt) {
        self.url = url
        self.attempt = attempt
    }

    func start() {
        queue.async { [self] in
            do throws(LoadFailure) {
                let size = try FileFacts.size(of: url)
                try open()
                var record = TransactionRecord(request: attempt.request)
                record.fetchType = .networkLoad
                attempt.report(.measured(record))
                attempt.report(
                    .response(
                        URLResponse(
                            url: url, mimeType: FileMediaType.of(url), expectedContentLength: Int(size),
                            textEncodingName: nil), .notAllowed))
                pump()
            } catch {
                end(.failed(error))
            }
        }
    }

    func demandChanged() { queue.async { [self] in pump() } }

    func stop() {
        progress.withLock { $0.hasEnded = true }
        queue.async { [self] in closeFile() }
    }

    private func open() throws(LoadFailure) {
        do {
            let handle = try FileHandle(forReadingFrom: url)
            progress.withLock { $0.handle = handle }
        } catch {
            throw LoadFailure(.fileNotOpened, underlying: error)
        }
    }

    private func pump() {
        while attempt.wantsBytes, let handle = progress.withLock({ $0.hasEnded ? nil : $0.handle }) {
            do {
                guard let piece = try handle.read(upToCount: Self.pieceSize), !piece.isEmpty else {
                    return end(.finished)
                }
                attempt.report(.data(piece))
            } catch {
                return end(.failed(LoadFailure(.fileUnreadable, underlying: error)))
            }
        }
    }

    private func end(_ event: LoadEvent) {
        let isFirst = progress.withLock { progress in
            defer { progress.hasEnded = true }
            return !progress.hasEnded
        }
        closeFile()
        if isFirst { attempt.report(event) }
    }

    private func closeFile() {
        let handle = progress.withLock { progress in
            defer { progress.handle = nil }
            return progress.handle
        }
        try? handle?.close()
    }
}

/// Looks up the size of a file. Each failure has the `URLError` code that programs expect, for example if the file is
/// missing.
enum FileFacts {
    /// Returns a regular file's size in bytes.
    static func size(of url: URL) throws(LoadFailure) -> Int64 {
        var isDirectory: ObjCBool = false
        let path = url.path
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw LoadFailure(.fileMissing)
        }
        guard !isDirectory.boolValue else { throw LoadFailure(.fileIsDirectory) }
        guard FileManager.default.isReadableFile(atPath: path) else { throw LoadFailure(.fileUnreadable) }
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[.size] as? NSNumber)?.int64Value ?? 0
        } catch {
            throw LoadFailure(.fileNotOpened, underlying: error)
        }
    }
}
