import CausewayURLLoading
import Foundation

/// Supplies a stream of the file from any offset, and ends the program when the task ends.
final class Receiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let file: URL
    private let state: URL
    /// Only code on the delegate queue uses this property.
    private var content = Data()

    init(file: URL, state: URL) {
        self.file = file
        self.state = state
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        InputStream(url: file)
    }

    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        let stream = InputStream(url: file)
        _ = stream?.setProperty(NSNumber(value: offset), forKey: .fileCurrentOffsetKey)
        return stream
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { content += data }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        try? FileManager.default.removeItem(at: state)
        guard let error else {
            print(String(decoding: content, as: UTF8.self), terminator: "")
            exit(0)
        }
        guard let data = (error as? URLError)?.uploadTaskResumeData else {
            print("failed: \(error)")
            exit(1)
        }
        try? data.write(to: state, options: .atomic)
        exit(75)
    }
}

func makeTask(_ session: URLSession, _ url: URL, _ file: URL, _ state: URL) throws -> URLSessionUploadTask {
    if let data = try? Data(contentsOf: state) { return session.uploadTask(withResumeData: data) }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue(CommandLine.arguments[3], forHTTPHeaderField: "Upload-Draft-Interop-Version")
    switch CommandLine.arguments[4] {
    case "data": return session.uploadTask(with: request, from: try Data(contentsOf: file))
    case "stream": return session.uploadTask(withStreamedRequest: request)
    default: return session.uploadTask(with: request, fromFile: file)
    }
}

// UploadClient URL FILE VERSION KIND STATE: uploads a file in one of three ways: as a file, as data, or as a stream.
//
// If the upload fails, or if SIGTERM ends the program, the program writes the resume data to the file STATE and exits
// with status 75. The next run continues from this file.
let arguments = CommandLine.arguments
guard arguments.count == 6, let url = URL(string: arguments[1]) else {
    print("usage: UploadClient URL FILE VERSION file|data|stream STATE")
    exit(2)
}
let file = URL(fileURLWithPath: arguments[2])
let state = URL(fileURLWithPath: arguments[5])
let session = URLSession(
    configuration: .ephemeral, delegate: Receiver(file: file, state: state), delegateQueue: nil)
let task = try makeTask(session, url, file, state)
signal(SIGTERM, SIG_IGN)
let ended = DispatchSource.makeSignalSource(signal: SIGTERM)
ended.setEventHandler { task.cancel(byProducingResumeData: { _ in }) }
ended.resume()
task.resume()
while true { try await Task.sleep(for: .seconds(3_600)) }
