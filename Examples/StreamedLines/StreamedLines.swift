// Shows lines of an answer while they arrive: swift run StreamedLines http://127.0.0.1:8080/events
import CausewayURLLoading
import Foundation

@main
enum StreamedLines {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: StreamedLines URL")
            exit(64)
        }
        // The server may be silent for hours between two lines.
        var request = URLRequest(url: url)
        request.timeoutInterval = 86_400
        let (bytes, _) = try await URLSession.shared.bytes(for: request)
        // While the loop is busy, the server cannot send more than a small buffer holds.
        for try await line in bytes.lines { print("line:", line) }
        print("the server ended the stream")
    }
}
