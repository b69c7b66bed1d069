// Shows a download that goes to a file, not to memory: swift run DownloadFile https://example.com/a.iso a.iso
import CausewayURLLoading
import Foundation

@main
enum DownloadFile {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else {
            print("usage: DownloadFile URL FILE")
            exit(64)
        }
        let (temporary, response) = try await URLSession.shared.download(from: url)
        guard let answer = response as? HTTPURLResponse, answer.statusCode == 200 else {
            print("there is no such file")
            exit(1)
        }
        // The temporary file is removed unless the program moves it.
        let place = URL(fileURLWithPath: arguments[2])
        try FileManager.default.moveItem(at: temporary, to: place)
        let size = try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int ?? 0
        print("stored", size, "bytes in", place.path)
    }
}
