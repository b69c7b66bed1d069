import CausewayImageFormats
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@testable import CausewayImages

/// The image libraries that the decoder program loads.
///
/// If a library is not installed, the tests that decode images are skipped with a message. If all tests must run, they
/// fail instead.
enum ImageLibraries {
    static let canRun =
        ProcessInfo.processInfo.environment["CI"] == "true"
        || [["libjpeg.so.62", "libjpeg.so.8"], ["libpng16.so.16"], ["libwebp.so.7"]].allSatisfy { names in
            names.contains { isInstalled($0) }
        }
    static let need: Comment = "libjpeg, libpng 1.6 or libwebp is not installed"

    private static func isInstalled(_ name: String) -> Bool {
        guard let library = dlopen(name, RTLD_NOW) else { return false }
        dlclose(library)
        return true
    }
}

/// A fake server without a network. It stores the requests, and a closure supplies the responses.
final class ScriptedImages: Sendable {
    typealias Script = @Sendable (URLRequest, _ number: Int, FetchSink) async throws -> Void

    private let kept = LockedValue<[URLRequest]>([])
    private let script: Script

    init(_ script: @escaping Script) { self.script = script }

    /// Answers each request with the same content.
    convenience init(_ content: [UInt8], status: Int = 200, _ fields: [String: String] = [:]) {
        self.init { _, _, sink in
            if sink.head(ResponseHead(status: status, fields: fields)) { _ = sink.piece(Data(content)) }
        }
    }

    /// The requests, in order.
    var requests: [URLRequest] { kept.withLock { $0 } }

    func loader(
        decoder: any ImageDecoding = PlainDecoder(), _ change: (inout ImageLoader.Configuration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration()
        configuration.decoder = decoder
        configuration.observesMemoryPressure = false
        change(&configuration)
        return ImageLoader(
            configuration: configuration,
            fetch: { [self] request, sink in
                let number = kept.withLock { kept in
                    kept.append(request)
                    return kept.count
                }
                try await script(request, number, sink)
            })
    }
}

/// Decodes a format for tests: "CWT", width, height, then the colour of all pixels. Counts the images.
final class PlainDecoder: ImageDecoding, Sendable {
    private let counts = LockedValue(0)

    var count: Int { counts.withLock { $0 } }

    static func file(width: UInt8 = 2, height: UInt8 = 2, _ shade: UInt8 = 7, padding: Int = 0) -> [UInt8] {
        Array("CWT".utf8) + [width, height, shade] + [UInt8](repeating: 0, count: padding)
    }

    func decode(_ bytes: [UInt8], _ hints: ImageDecodingHints) async throws -> DecodedImage {
        counts.withLock { $0 += 1 }
        guard bytes.count >= 6, bytes.starts(with: "CWT".utf8) else { throw ImageError(.malformed, "no test image") }
        let (width, height) = (Int(bytes[3]), Int(bytes[4]))
        let pixels = [UInt8](repeating: bytes[5], count: width * height * 4)
        guard let bitmap = Bitmap(width: width, height: height, pixels: pixels) else {
            throw ImageError(.malformed, "no pixels")
        }
        return DecodedImage(bitmap: bitmap, format: .png)
    }
}

/// A gate that blocks tasks until a test opens it.
final class Latch: Sendable {
    private let state = LockedValue<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Waits until other tasks have made a condition true.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

/// A directory for one test.
func withDirectory(_ body: (URL) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    try await body(url)
}

/// Writes an executable file from another process. If this process wrote it, another test could start a process that
/// inherits the open descriptor. The kernel does not run a file that is open for writing.
func writeProgram(_ text: String, at path: String) throws {
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/bin/sh")
    writer.arguments = ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"", path, text]
    try writer.run()
    writer.waitUntilExit()
    guard writer.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
}

/// Returns the code of the error that a call throws.
func code(_ call: () async throws -> Void) async -> ImageError.Code? {
    do {
        try await call()
        return nil
    } catch { return (error as? ImageError)?.code }
}

func address(_ name: String) -> URL { URL(string: "http://images.example/\(name)")! }
