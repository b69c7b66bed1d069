import CausewaySystem
import Foundation
import Testing

@testable import CausewayImageFormats
@testable import CausewayImages

@Suite("Image decoder", .enabled(if: ImageLibraries.canRun, ImageLibraries.need))
struct DecoderTests {
    private static func decoder(
        _ program: String? = nil, _ change: (inout ImageDecoderProcesses.Options) -> Void = { _ in }
    ) -> ImageDecoderProcesses {
        var options = ImageDecoderProcesses.Options()
        options.executable = program
        options.processCount = 2
        change(&options)
        return ImageDecoderProcesses(options: options)
    }

    /// Runs a test with a script in place of the decoder program.
    private static func withProgram(_ lines: String, _ body: (String) async throws -> Void) async throws {
        try await withDirectory { directory in
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let path = directory.appendingPathComponent("decoder").path
            try writeProgram("#!/bin/sh\n\(lines)\n", at: path)
            try await body(path)
        }
    }

    @Test("JPEG, PNG and WebP are decoded in another process")
    func formats() async throws {
        let decoder = Self.decoder()
        for (bytes, format) in [
            (TestImages.jpeg, ImageFormat.jpeg), (TestImages.progressive, .jpeg), (TestImages.webp, .webp),
        ] {
            let image = try await decoder.decode(bytes, ImageDecodingHints())
            #expect(image.format == format && image.bitmap.isOpaque)
            #expect(image.bitmap.width == 48 && image.bitmap.height == 32)
            let (left, right) = (image.bitmap[4, 30], image.bitmap[40, 2])
            #expect(left.red > 240 && left.green > 220 && right.red < 15 && right.green < 35)
        }
        let png = try await decoder.decode(TestImages.png(width: 3, height: 2, [1, 2, 3, 4]), ImageDecodingHints())
        #expect(png.bitmap.pixels == (0..<6).flatMap { _ in [1, 2, 3, 4] as [UInt8] } && !png.bitmap.isOpaque)
    }

    @Test("The first picture of a WebP animation is decoded, at its place on a transparent canvas")
    func animation() async throws {
        let decoder = Self.decoder()
        let whole = TestImages.Frame(image: Array(TestImages.webp.dropFirst(12)))
        // An extended WebP header comes first. After it come the image's chunks: first the transparency, then the bit
        // stream.
        let small = TestImages.Frame(
            image: Array(TestImages.transparentWebP.dropFirst(30)), x: 10, y: 4, width: 8, height: 8)
        let image = try await decoder.decode(
            TestImages.animation(width: 48, height: 32, [whole, small]), ImageDecodingHints())
        let plain = try await decoder.decode(TestImages.webp, ImageDecodingHints())
        #expect(image.bitmap == plain.bitmap && image.format == .webp)

        let placed = try await decoder.decode(
            TestImages.animation(width: 20, height: 12, [small, whole]), ImageDecodingHints())
        #expect(placed.bitmap.width == 20 && placed.bitmap.height == 12 && !placed.bitmap.isOpaque)
        for y in 0..<12 {
            for x in 0..<20 {
                let pixel = placed.bitmap[x, y]
                let isInside = (10..<18).contains(x) && (4..<12).contains(y)
                #expect(isInside ? pixel.red > 220 && pixel.alpha == 128 : pixel.alpha == 0)
            }
        }
    }

    @Test("A WebP animation whose first frame is missing, cut off, too large or beside the canvas is malformed")
    func malformedAnimation() async throws {
        let decoder = Self.decoder { $0.limits.maximumPixelCount = 10_000 }
        let image = Array(TestImages.webp.dropFirst(12))
        let good = TestImages.animation(width: 48, height: 32, [TestImages.Frame(image: image)])
        var rows = [30, 50, 70, good.count / 2, good.count - 10].map { Array(good.prefix($0)) }
        rows += [
            TestImages.Frame(image: image, x: 2), TestImages.Frame(image: image, y: 2),
            TestImages.Frame(image: image, width: 40), TestImages.Frame(image: image, height: 31),
            TestImages.Frame(image: []), TestImages.Frame(image: image, x: 1 << 24, y: 1 << 24),
        ].map { TestImages.animation(width: 48, height: 32, [$0]) }
        for bytes in rows {
            #expect(await code { _ = try await decoder.decode(bytes, ImageDecodingHints()) } == .malformed)
        }
        let huge = TestImages.animation(width: 2000, height: 2000, [TestImages.Frame(image: image)])
        #expect(await code { _ = try await decoder.decode(huge, ImageDecodingHints()) } == .tooLarge)
        #expect(try await decoder.decode(good, ImageDecodingHints()).bitmap.width == 48)
    }

    @Test("A smaller JPEG image is decoded at once, but not below the wanted size")
    func smaller() async throws {
        var hints = ImageDecodingHints()
        hints.wanted = PixelSize(width: 10, height: 8)
        let image = try await Self.decoder().decode(TestImages.jpeg, hints)
        #expect(image.bitmap.width == 12 && image.bitmap.height == 8)
        #expect(image.fullSize == PixelSize(width: 48, height: 32))
    }

    @Test("An image without its end is decoded as far as possible")
    func incomplete() async throws {
        var scans = JPEGScans()
        scans.append(TestImages.progressive.prefix(TestImages.progressive.count * 2 / 3))
        let part = Array(TestImages.progressive.prefix(scans.lastEnd))
        let image = try await Self.decoder().decode(part, ImageDecodingHints())
        #expect(image.isIncomplete && image.bitmap.width == 48)
        #expect(try await !Self.decoder().decode(TestImages.progressive, ImageDecodingHints()).isIncomplete)
    }

    @Test("Malformed, too large and unknown images are errors, and the process goes on")
    func errors() async throws {
        let decoder = Self.decoder { $0.limits.maximumPixelCount = 10_000 }
        // The header states 200 x 200 pixels, but the file contains no pixel data.
        let bomb = TestImages.png(width: 200, height: 200, raw: [])
        var damaged = TestImages.png(width: 4, height: 4)
        damaged[45] ^= 255
        for (bytes, expected) in [
            (bomb, ImageError.Code.tooLarge), (damaged, .malformed), (Array("GIF89a".utf8), .unsupported),
            (Array("BM123456".utf8), .unsupported), (Array("<html>".utf8), .unsupported), ([], .unsupported),
            ([0xFF, 0xD8, 0xFF], .malformed), (Array("RIFF....WEBPVP8 ".utf8), .malformed),
        ] {
            #expect(await code { _ = try await decoder.decode(bytes, ImageDecodingHints()) } == expected)
        }
        #expect(try await decoder.decode(TestImages.jpeg, ImageDecodingHints()).bitmap.width == 48)
    }

    @Test(
        "Damage anywhere in a file costs at most that image",
        arguments: [
            TestImages.progressive, TestImages.webp,
            TestImages.animation(
                width: 48, height: 32, [TestImages.Frame(image: Array(TestImages.webp.dropFirst(12)))]),
        ])
    func damage(_ bytes: [UInt8]) async throws {
        let decoder = Self.decoder()
        for index in stride(from: 3, to: bytes.count, by: 23) {
            var damaged = bytes
            damaged[index] ^= 0x55
            _ = try? await decoder.decode(damaged, ImageDecodingHints())
        }
        #expect(try await decoder.decode(bytes, ImageDecodingHints()).bitmap.width == 48)
    }

    @Test("A decoder that crashes costs one image")
    func crash() async throws {
        // The first decoder process that gets an image crashes. All later processes run the real decoder.
        let real = try DecoderProgram.path(nil)
        try await Self.withProgram(
            "if mkdir \"$0.crashed\" 2>&-; then head -c 40 >/dev/null; kill -SEGV $$; fi\nexec \(real) \"$@\""
        ) { path in
            let decoder = Self.decoder(path)
            #expect(
                await code { _ = try await decoder.decode(TestImages.jpeg, ImageDecodingHints()) } == .decoderCrashed)
            for _ in 0..<3 { _ = try await decoder.decode(TestImages.jpeg, ImageDecodingHints()) }
        }
    }

    @Test("A decoder that loops costs one image and the time of its limit")
    func loop() async throws {
        let real = try DecoderProgram.path(nil)
        try await Self.withProgram(
            "if [ -e \"$0.loops\" ]; then while :; do :; done; fi\nexec \(real) \"$@\""
        ) { path in
            // The test makes and removes the mark: the first process can be ended before it runs its first command.
            let mark = path + ".loops"
            try Data().write(to: URL(fileURLWithPath: mark))
            let decoder = Self.decoder(path) { $0.limits.decodingTime = .milliseconds(200) }
            let first = await code { _ = try await decoder.decode(TestImages.jpeg, ImageDecodingHints()) }
            #expect(first == .decoderTimedOut)
            try FileManager.default.removeItem(atPath: mark)
            let generous = Self.decoder(path)
            _ = try await generous.decode(TestImages.jpeg, ImageDecodingHints())
        }
    }

    @Test(
        "A decoder that answers nonsense is ended",
        arguments: ["printf x", "head -c 64 /dev/zero", "printf 'CWR1%060d' 0", "exec cat"])
    func nonsense(_ answer: String) async throws {
        try await Self.withProgram("exec 1>&0; \(answer)") { path in
            let result = await code { _ = try await Self.decoder(path).decode(TestImages.jpeg, ImageDecodingHints()) }
            #expect(result == .decoderCrashed)
        }
    }

    @Test("Without the decoder program there is an error, never decoding in this process")
    func missing() async throws {
        let decoder = Self.decoder("/nonexistent/decoder")
        #expect(await code { _ = try await decoder.decode(TestImages.jpeg, ImageDecodingHints()) } == .decoderMissing)
        #expect(throws: ImageError.self) { try DecoderProgram.path(nil, environment: [DecoderProgram.variable: "/x"]) }
        #expect(try DecoderProgram.path(nil, environment: [:]).hasSuffix("/" + DecoderProgram.name))
        #expect(try DecoderProgram.path(nil, environment: [DecoderProgram.variable: "/bin/sh"]) == "/bin/sh")
    }

    @Test("Many images at once: malformed and cancelled ones do not disturb the others")
    func many() async throws {
        let decoder = Self.decoder { $0.imagesPerProcess = 3 }
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for index in 0..<60 {
                group.addTask {
                    var bytes = index % 2 == 0 ? TestImages.jpeg : TestImages.webp
                    if index % 5 == 0 { bytes.removeLast(bytes.count / 2) }
                    let task = Task { try await decoder.decode(bytes, ImageDecodingHints()).bitmap.width }
                    if index % 7 == 0 { task.cancel() }
                    let result = await task.result
                    return index % 5 == 0 || index % 7 == 0 ? nil : try result.get()
                }
            }
            var widths: [Int] = []
            for try await width in group { if let width { widths.append(width) } }
            #expect(widths.count == 41 && widths.allSatisfy { $0 == 48 })
        }
    }

    @Test("Cancellation ends the process")
    func cancellation() async throws {
        try await Self.withProgram("touch \"$0.started\"; exec sleep 100") { path in
            let decoder = Self.decoder(path)
            let task = Task { try await decoder.decode(TestImages.jpeg, ImageDecodingHints()) }
            await until { FileManager.default.fileExists(atPath: path + ".started") }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("Memory beyond the limit of the process is refused")
    func memory() async throws {
        let decoder = Self.decoder { $0.memoryInMebibytes = 48 }
        let large = TestImages.png(width: 6_000, height: 4_000, raw: [])
        #expect(await code { _ = try await decoder.decode(large, ImageDecodingHints()) } == .tooLarge)
        _ = try await decoder.decode(TestImages.jpeg, ImageDecodingHints())
    }

    @Test("The process can open no file and make no socket, and is no child of the program")
    func confined() async throws {
        let process = try WorkerProcess(try DecoderProgram.path(nil), arguments: ["64", "5"])
        let request = DecoderRequest(
            format: .jpeg, contentByteCount: 0, wanted: nil, limits: ImageLimits())
        // A reply shows that the decoder process has given up its privileges.
        try process.send(try #require(request.bytes), until: System.now + .seconds(60))
        _ = try process.receive(DecoderReply.byteCount, until: System.now + .seconds(60))
        let place = "/proc/\(try #require(process.identifier))"
        let status = try String(contentsOfFile: "\(place)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        // The decoder process must not be a child of this process. A child would be reported by the program's `wait`,
        // and its end would send SIGCHLD.
        #expect(!status.contains("PPid:\t\(ProcessInfo.processInfo.processIdentifier)\n"))
        let limits = try String(contentsOfFile: "\(place)/limits", encoding: .utf8)
        #expect(limits.contains(/Max open files +0 +0/) && limits.contains(/Max address space +67108864 +67108864/))
        // Only root can list the open files of the decoder process, because that process has given up its privileges.
        // Skip the rest for other users.
        guard System.user == 0 else { return }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place)/fd") == ["0"])
    }

    @Test("Photographs are turned as their Exif data says")
    func orientation() throws {
        let bitmap = try #require(
            Bitmap(width: 2, height: 1, pixels: [1, 1, 1, 255, 2, 2, 2, 255]))
        func shades(_ orientation: Orientation) -> [[UInt8]] {
            let turned = orientation.upright(bitmap)
            return (0..<turned.height).map { y in (0..<turned.width).map { x in turned[x, y].red } }
        }
        #expect(shades(.up) == [[1, 2]] && shades(.upMirrored) == [[2, 1]] && shades(.down) == [[2, 1]])
        #expect(shades(.right) == [[1], [2]] && shades(.left) == [[2], [1]])
        let exif: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xE1, 0, 34] + Array("Exif\0\0".utf8) + Array("MM".utf8)
            + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        #expect(Orientation(jpeg: exif) == .right)
        for count in 0..<exif.count { #expect(Orientation(jpeg: Array(exif.prefix(count))) == .up) }
    }
}
