@testable import CausewayImageFormats
import Testing

@Suite("Image processors")
struct ProcessorTests {
    /// Makes a bitmap with shades of grey.
    private static func bitmap(_ rows: [[UInt8]]) throws -> Bitmap {
        try #require(
            Bitmap(
                width: rows[0].count, height: rows.count,
                pixels: rows.flatMap { $0.flatMap { [$0, $0, $0, 255] as [UInt8] } }))
    }

    @Test("A smaller size is the average of the pixels, in the ratio of the sides")
    func resizes() throws {
        let source = try Self.bitmap([[UInt8]](repeating: [UInt8](repeating: 80, count: 40), count: 20))
        let inside = ImageProcessor.resize(width: 10, height: 10)(source)
        #expect(inside.width == 10 && inside.height == 5 && inside.isOpaque)
        #expect(inside.pixels.allSatisfy { $0 == 80 || $0 == 255 })
        let filling = ImageProcessor.resize(width: 10, height: 10, fit: .filling)(source)
        #expect(filling.width == 10 && filling.height == 10)
        let stretched = ImageProcessor.resize(width: 7, height: 9, fit: .stretched)(source)
        #expect(stretched.width == 7 && stretched.height == 9)
        #expect(ImageProcessor.resize(width: 100, height: 100)(source) == source)
        #expect(ImageProcessor.resize(width: 80, height: 80, enlarges: true)(source).width == 80)
        let mixed = try Self.bitmap([[0, 0, 200, 200]])
        #expect(ImageProcessor.resize(width: 1, height: 1)(mixed)[0, 0].red == 100)
    }

    @Test("A transparent pixel does not colour its neighbours")
    func transparency() throws {
        let source = try #require(
            Bitmap(width: 2, height: 1, pixels: [255, 0, 0, 255, 0, 255, 0, 0]))
        let pixel = ImageProcessor.resize(width: 1, height: 1)(source)[0, 0]
        #expect(pixel.red == 255 && pixel.green == 0 && (127...128).contains(pixel.alpha))
    }

    @Test("Parts, corners and blur")
    func others() throws {
        let source = try Self.bitmap([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        let part = ImageProcessor.crop(x: 1, y: 1, width: 9, height: 1)(source)
        #expect(part.width == 2 && part.height == 1 && part[0, 0].red == 5 && part[1, 0].red == 6)
        #expect(ImageProcessor.crop(x: 5, y: 0, width: 1, height: 1)(source) == source)
        #expect(ImageProcessor.crop(x: .min, y: .max, width: .max, height: .max)(source) == source)
        let grey = try Self.bitmap([[UInt8]](repeating: [UInt8](repeating: 90, count: 20), count: 10))
        let rounded = ImageProcessor.rounded(radius: 4)(grey)
        #expect(rounded[0, 0].alpha == 0 && rounded[10, 0].alpha == 255 && !rounded.isOpaque)
        let circle = ImageProcessor.circle(grey)
        #expect(circle.width == 10 && circle[0, 0].alpha == 0 && circle[5, 5].alpha == 255)
        #expect(ImageProcessor.blur(radius: 3)(grey) == grey)
        let point = try Self.bitmap([[0, 0, 255, 0, 0]])
        let blurred = ImageProcessor.blur(radius: 1)(point)
        #expect(blurred[2, 0].red < 255 && blurred[1, 0].red > 0 && blurred[0, 0].red <= blurred[1, 0].red)
    }

    @Test("Formats are recognized by their first bytes")
    func formats() {
        #expect(ImageFormat(firstBytes: TestImages.jpeg) == .jpeg)
        #expect(ImageFormat(firstBytes: TestImages.webp) == .webp)
        #expect(ImageFormat(firstBytes: Array("....ftypavif".utf8)) == .avif)
        #expect(ImageFormat(firstBytes: Array("<?xml?><svg>".utf8)) == .svg)
        #expect(ImageFormat(firstBytes: [0xFF]) == nil && ImageFormat(firstBytes: []) == nil)
    }

    @Test("The scans of a progressive JPEG image are found, a baseline one has none to show")
    func scans() {
        var scans = JPEGScans()
        for byte in TestImages.progressive { scans.append([byte]) }
        #expect(scans.isProgressive && scans.endedCount > 4 && scans.lastEnd == TestImages.progressive.count - 2)
        var baseline = JPEGScans()
        baseline.append(TestImages.jpeg)
        #expect(!baseline.isProgressive && baseline.endedCount == 1)
    }

    @Test("The environment tells how a terminal shows images")
    func terminals() {
        func kind(_ environment: [String: String]) -> TerminalImage.Kind {
            TerminalImage.kind(environment: environment)
        }
        #expect(kind(["TERM": "xterm-kitty"]) == .kitty && kind(["TERM": "xterm", "KITTY_WINDOW_ID": "1"]) == .kitty)
        #expect(kind(["TERM": "foot", "COLORTERM": "truecolor"]) == .sixel)
        #expect(kind(["TERM": "xterm-256color", "COLORTERM": "truecolor"]) == .blocks)
        #expect(kind(["TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"]) == .blocks256 && kind([:]) == .blocks256)
    }

    @Test("An image is sent as sixels only where it has pixels")
    func sixels() throws {
        let source = try #require(Bitmap(width: 2, height: 1, pixels: [255, 255, 255, 255, 0, 0, 0, 0]))
        let text = String(decoding: TerminalImage.bytes(source, as: .sixel, columns: 1), as: UTF8.self)
        #expect(text == "\u{1B}P0;1q\"1;1;2;1#239;2;100;100;100#239@$-\u{1B}\\\n")
    }
}
