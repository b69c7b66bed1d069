import ArgumentParser
import CausewayImageFormats
import CausewayImages
import CausewaySystem
import CausewayTypes
import CausewayURLLoading
import Foundation

/// `nw image`: shows an image in the terminal.
struct ImageCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "image",
        abstract: "Show an image in the terminal.",
        usage: "nw image [<options>] URL|FILE|-",
        discussion: """
            Reads JPEG, PNG and WebP with the system's libjpeg, libpng and libwebp, in a separate process without rights. \
            Of an animation the first picture is shown. \
            The environment tells what the terminal supports (TERM, TERM_PROGRAM, KITTY_WINDOW_ID, COLORTERM); --as \
            overrides it. Without a terminal, the image is not shown unless --as is given.

            Examples:
              nw image https://example.com/photo.jpg
              nw image --width 40 photo.png            40 columns
              nw image --as sixel photo.webp > a.six
              nw image --info photo.jpg                format and size only
              curl -s https://example.com/a.png | nw image -
            """)

    /// The method for showing an image on the terminal.
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case kitty, sixel, blocks, blocks256

        var kind: TerminalImage.Kind {
            switch self {
            case .kitty: .kitty
            case .sixel: .sixel
            case .blocks: .blocks
            case .blocks256: .blocks256
            }
        }
    }

    @Option(name: .customLong("as"), help: "Show the image as kitty, sixel, blocks or blocks256.")
    var style: Style?

    @Option(help: ArgumentHelp("Show the image in this number of columns.", valueName: "columns"))
    var width: Int?

    @Flag(help: "Print format and size instead of the image.")
    var info = false

    @Flag(help: "With --info: print one JSON object.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show no progress.")
    var quiet = false

    @Argument(help: ArgumentHelp("A URL, the name of a file, or - for standard input.", valueName: "url"))
    var address: String

    func validate() throws {
        if let width, !(1...1_000).contains(width) { throw ValidationError("--width needs a number from 1 to 1000.") }
        if json, !info { throw ValidationError("--json needs --info.") }
    }

    func run() async throws {
        try await reporting("image") {
            guard info || style != nil || TerminalScreen.isInteractive else {
                throw CommandFailure("standard output is no terminal; choose a form with --as, or use --info")
            }
            try await untilInterrupted { try await self.show() }
        }
    }

    private func show() async throws {
        let kind = style?.kind ?? TerminalImage.kind(environment: ProcessInfo.processInfo.environment)
        let columns = width ?? ImageTerminal.columnCount
        let size = ImageTerminal.pixels(for: kind, columns: columns)
        let image: LoadedImage
        do {
            image = try await ImageSource(address: address, isQuiet: quiet).load(info ? nil : size)
        } catch let error as ImageError {
            throw CommandFailure(PrintableText(foreign: "\(address): \(error)"))
        } catch let error as URLError {
            throw CommandFailure(PrintableText(foreign: "cannot load \(address): \(error.localizedDescription)"))
        }
        if info { return describe(image) }
        // If the image is narrower than the terminal, do not enlarge it.
        let used = min(columns, ImageTerminal.columns(for: kind, pixels: image.bitmap.width))
        try TerminalImage.bytes(image.bitmap, as: kind, columns: max(used, 1)).withUnsafeBytes { bytes in
            try OpenFile.standardOutput.writeAll(bytes)
        }
    }

    private struct Record: Encodable {
        var format: String
        var width: Int
        var height: Int
        var isOpaque: Bool
    }

    private func describe(_ image: LoadedImage) {
        let size = image.fullSize
        if json {
            return printLine(
                PrintableText(
                    json: Record(
                        format: image.format.rawValue, width: size.width, height: size.height,
                        isOpaque: image.bitmap.isOpaque)))
        }
        printLine("\(address): \(image.format.rawValue), \(size.width) x \(size.height) pixels")
    }
}
