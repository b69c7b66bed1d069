import ArgumentParser
import CausewaySystem
import CausewayTypes
import CausewayURLLoading
import Foundation

/// Performs downloads in the background session of this command.
struct TransfersDownload {
    private static let identifier = "get"

    private let directory: URL

    init(into directory: String) { self.directory = URL(fileURLWithPath: directory).standardizedFileURL }

    /// Downloads URLs, and continues downloads from earlier runs. Returns when all downloads have ended.
    ///
    /// Cancellation: unfinished downloads stay recorded on disk, and the next run continues them.
    func run(_ texts: [String]) async throws {
        let urls = try texts.map { text in
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()) else {
                throw CommandFailure("not an http or https URL: \(text)")
            }
            return url
        }
        let (ends, feed) = AsyncStream<Void>.makeStream()
        let receiver = Receiver { feed.yield() }
        let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
        configuration.backgroundTransferCommand = "nw"
        let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        switch session.transferObstacle {
        case .backgroundSessionInUseByAnotherProcess?:
            throw CommandFailure("another 'nw transfers get' is at work (-996); try again when it has ended")
        case .some(let code): throw CommandFailure("cannot use the directory of the transfers (\(code.rawValue))")
        case nil: break
        }
        for url in urls {
            let task = session.downloadTask(with: url)
            task.taskDescription = directory.path
            task.resume()
        }
        var iterator = ends.makeAsyncIterator()
        while !(await session.allTasks).isEmpty {
            guard await iterator.next() != nil else { throw CancellationError() }
        }
        if receiver.hasFailed { throw ExitCode.failure }
    }

    /// Stores the files, and reports each completion.
    private final class Receiver: NSObject, URLSessionDownloadDelegate {
        private let failed = LockedValue(false)
        private let stored = LockedValue<[Int: PrintableText]>([:])
        private let ended: @Sendable () -> Void

        init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

        var hasFailed: Bool { failed.withLock { $0 } }

        func urlSession(
            _ session: URLSession, downloadTask task: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let line = Self.store(task, location) else { return failed.withLock { $0 = true } }
            stored.withLock { $0[task.taskIdentifier] = line }
        }

        /// Moves a file to its destination. Returns the line to print; `nil` after a failure.
        private static func store(_ task: URLSessionDownloadTask, _ location: URL) -> PrintableText? {
            let url = task.originalRequest?.url?.absoluteString ?? ""
            let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
            guard (200..<300).contains(status) else {
                printError("nw: transfers: \(url): status \(status)")
                return nil
            }
            let name = task.response?.suggestedFilename ?? "download"
            let directory = URL(fileURLWithPath: task.taskDescription ?? ".")
            do {
                return "\(try UnusedName.move(location, to: name, in: directory).path)"
            } catch {
                printError("nw: transfers: cannot store \(name) in \(directory.path): \(error.localizedDescription)")
                return nil
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let error {
                failed.withLock { $0 = true }
                let url = task.originalRequest?.url?.absoluteString ?? ""
                let code = (error as? URLError)?.errorCode ?? 0
                printError("nw: transfers: \(url): \(error.localizedDescription) (\(code))")
            }
            // There is no line to print if the file could not be stored. Another possibility: an earlier process stored
            // the file and was killed before it printed the line.
            let line = stored.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            if let line { printLine(line) }
            ended()
        }
    }
}
