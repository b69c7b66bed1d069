// Shows that cancelling a receive loses nothing: swift run EchoServer 7000, and in another terminal swift run CancelledReceive
import Causeway
import Foundation

@main
enum CancelledReceive {
    static func main() async throws {
        try await withNetworkConnection(to: .hostPort(host: "127.0.0.1", port: 7000)) {
            TCP()
        } _: { connection in
            try await connection.send(Array("abc".utf8))
            let impatient = Task { try await connection.receive(exactly: 6) }
            try await Task.sleep(for: .milliseconds(100))
            impatient.cancel()
            do {
                print("received", try await impatient.value.content.count, "bytes")
            } catch {
                // Three bytes had arrived. The next receive returns them.
                print("cancelled: \(error)")
            }
            try await connection.send(Array("def".utf8), endOfStream: true)
            let (content, _) = try await connection.receive(exactly: 6)
            print(String(decoding: content, as: UTF8.self))
        }
    }
}
