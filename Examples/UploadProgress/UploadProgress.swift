// Shows the upload of a file with its progress: swift run UploadProgress a.iso http://127.0.0.1:8080/a.iso
import CausewayURLLoading
import Foundation

/// Prints each tenth of an upload.
final class Reporter: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard totalBytesExpectedToSend > 0 else { return }
        let tenths = totalBytesSent * 10 / totalBytesExpectedToSend
        let before = (totalBytesSent - bytesSent) * 10 / totalBytesExpectedToSend
        if tenths > before { print("\(tenths * 10) %") }
    }
}

@main
enum UploadProgress {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[2]) else {
            print("usage: UploadProgress FILE URL")
            exit(64)
        }
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let file = URL(fileURLWithPath: arguments[1])
        // The file is read while it is sent, so its size does not matter.
        let (_, response) = try await URLSession.shared.upload(for: request, fromFile: file, delegate: Reporter())
        print("the server answered with status", (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}
