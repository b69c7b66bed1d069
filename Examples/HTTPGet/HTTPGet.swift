// Shows a GET request and what its answer says: swift run HTTPGet https://example.com/
import CausewayURLLoading
import Foundation

@main
enum HTTPGet {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: HTTPGet URL")
            exit(64)
        }
        do {
            let (data, response) = try await URLSession.shared.data(from: url)
            guard let answer = response as? HTTPURLResponse else { return }
            print("status", answer.statusCode, "with", data.count, "bytes of", answer.mimeType ?? "no type")
            print(String(decoding: data, as: UTF8.self))
        } catch let error as URLError {
            print("cannot load \(url): \(error.localizedDescription)")
        }
    }
}
