// Shows a list of images whose rows are reused: swift run ImageList https://example.com/a.jpg https://example.com/b.png
import CausewayImages
import Dispatch
import Foundation

/// A row of the list. A user interface would draw the picture of the slot instead of printing a line.
final class Row: Sendable {
    private let binding: ImageBinding

    init(number: Int, loader: ImageLoader) {
        binding = ImageBinding(loader: loader, slot: ImageBinding.Slot(fade: .milliseconds(200))) { slot in
            switch slot.state {
            case .empty: print("row \(number): empty")
            case .loading(let preview): print("row \(number): \(preview == nil ? "placeholder" : "preview")")
            case .image(let image):
                let size = "\(image.bitmap.width) x \(image.bitmap.height)"
                print("row \(number): \(size) from \(image.origin): \(image.url.lastPathComponent)")
            case .failed(let error): print("row \(number): \(error)")
            }
        }
    }

    func show(_ url: URL) {
        var request = ImageRequest(url, processors: [.resize(width: 160, height: 120, fit: .filling)])
        request.wantsPreviews = true
        binding.show(request)
    }
}

@main
enum ImageList {
    static func main() async throws {
        let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
        guard !urls.isEmpty, urls.allSatisfy({ $0.host != nil }) else {
            print("usage: ImageList URL...")
            exit(64)
        }
        let loader = ImageLoader()
        // Two rows scroll over all images, faster than they load: only the last ones are shown.
        let rows = [Row(number: 0, loader: loader), Row(number: 1, loader: loader)]
        for (index, url) in urls.enumerated() { rows[index % 2].show(url) }
        // What comes next in the list.
        loader.prefetch(urls.map { ImageRequest($0) })
        try await Task.sleep(for: .seconds(10))
        withExtendedLifetime(rows) {}
    }
}
