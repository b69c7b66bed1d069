import CausewayImageFormats
import CausewayImages
import CausewaySystem
import CausewayTypes
import CausewayURLLoading
import Foundation
import Synchronization

/// The source of the image that the user names: a server, a file, or standard input.
struct ImageSource {
    let address: String
    let isQuiet: Bool

    /// Decodes images in another process, which runs the same executable. So no second executable file is needed.
    private static var decoder: ImageDecoderProcesses {
        var options = ImageDecoderProcesses.Options()
        options.executable = ProcessInfo.processInfo.environment["CAUSEWAY_IMAGE_DECODER"] ?? "/proc/self/exe"
        if options.executable == "/proc/self/exe" { options.arguments = [Self.decoderWord] }
        options.processCount = 1
        return ImageDecoderProcesses(options: options)
    }

    /// The command that turns this tool into a decoder. It is not listed in the help.
    static let decoderWord = "image-decoder"

    /// Loads the image, and scales it to `size` if a size is given.
    func load(_ size: PixelSize?) async throws -> LoadedImage {
        let processors = size.map { [ImageProcessor.resize(width: $0.width, height: $0.height)] } ?? []
        if let url { return try await load(url, processors) }
        var hints = ImageDecodingHints()
        hints.wanted = size
        let decoded = try await Self.decoder.decode(try read(), hints)
        let bitmap = processors.reduce(decoded.bitmap) { $1($0) }
        return LoadedImage(
            url: URL(fileURLWithPath: address), bitmap: bitmap, format: decoded.format, fullSize: decoded.fullSize,
            origin: .disk)
    }

    /// The image's address as a URL; `nil` if it is not an HTTP URL.
    private var url: URL? {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
        else { return nil }
        return url
    }

    private func load(_ url: URL, _ processors: [ImageProcessor]) async throws -> LoadedImage {
        var configuration = ImageLoader.Configuration()
        configuration.decoder = Self.decoder
        configuration.observesMemoryPressure = false
        let loader = ImageLoader(configuration: configuration)
        let bar = Mutex<ProgressBar?>(nil)
        let image = try await loader.image(for: ImageRequest(url, processors: processors)) { update in
            guard case .progress(let received, let expected) = update, !isQuiet else { return }
            bar.withLock { bar in
                var shown = bar ?? ProgressBar(address, byteCount: expected.map(UInt64.init))
                shown.advance(to: UInt64(received))
                bar = shown
            }
        }
        bar.withLock { $0?.remove() }
        return image
    }

    private func read() throws -> [UInt8] {
        let limit = ImageLimits().maximumByteCount
        do {
            let isInput = address == "-"
            let file =
                isInput ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: address))
            var bytes: [UInt8] = []
            while bytes.count <= limit, let piece = try file.read(upToCount: 256 * 1024), !piece.isEmpty {
                bytes += piece
            }
            return bytes
        } catch {
            throw CommandFailure(PrintableText(foreign: "cannot read \(address)"))
        }
    }
}
