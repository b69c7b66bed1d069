// Shows where images come from: the network first, then the caches: swift run CachedImages FOLDER https://example.com/a.jpg
import CausewayImages
import Foundation

@main
enum CachedImages {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let urls = words.dropFirst().compactMap { URL(string: $0) }
        guard let folder = words.first, !urls.isEmpty, urls.allSatisfy({ $0.host != nil }) else {
            print("usage: CachedImages FOLDER URL...")
            exit(64)
        }
        var configuration = ImageLoader.Configuration()
        // The images of this folder outlive the program: its second run asks the server only whether they have changed.
        configuration.disk = try ImageDiskCache(directory: URL(filePath: folder))
        let loader = ImageLoader(configuration: configuration)
        for turn in ["first", "second"] {
            for url in urls {
                let image = try await loader.image(for: ImageRequest(url))
                print(
                    turn, url.lastPathComponent, "\(image.bitmap.width) x \(image.bitmap.height) from \(image.origin)")
            }
        }
    }
}
