import CausewayURLLoading
import Foundation

/// The client of `Scripts/check-downloads`: downloads a URL to a file, and continues after broken connections and after a kill.
///
/// usage: DownloadClient URL FILE STATE
///
/// The file STATE has the resume data of the running download.
@main
struct DownloadClient {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[1]) else {
            print("usage: DownloadClient URL FILE STATE")
            exit(2)
        }
        let receiver = Receiver(
            url, file: URL(fileURLWithPath: arguments[2]), state: URL(fileURLWithPath: arguments[3]))
        let session = URLSession(configuration: .ephemeral, delegate: receiver, delegateQueue: nil)
        receiver.begin(session)
        dispatchMain()
    }
}

/// A download delegate. It stores resume data as soon as there is some. After a failure, it starts the next task.
final class Receiver: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    private let url: URL
    private let file: URL
    private let state: URL
    /// The identifier of the task that the stored resume data belongs to. Used only on the delegate queue.
    private var stored = -1

    init(_ url: URL, file: URL, state: URL) {
        self.url = url
        self.file = file
        self.state = state
    }

    func begin(_ session: URLSession) {
        let data = try? Data(contentsOf: state)
        (data.map { session.downloadTask(withResumeData: $0) } ?? session.downloadTask(with: url)).resume()
    }

    private func store(_ task: URLSessionDownloadTask) {
        guard stored != task.taskIdentifier, let data = task.currentResumeData else { return }
        stored = task.taskIdentifier
        try? data.write(to: state, options: .atomic)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        store(downloadTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        store(downloadTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0 < 300 else { return }
        try? FileManager.default.removeItem(at: file)
        try? FileManager.default.moveItem(at: location, to: file)
        try? FileManager.default.removeItem(at: state)
        exit(0)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // There is no resume data in two cases: nothing has arrived yet, or the resume data in the file is still valid.
        if let data = (error as? URLError)?.downloadTaskResumeData { try? data.write(to: state, options: .atomic) }
        begin(session)
    }
}
