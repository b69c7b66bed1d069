import CausewayImageFormats
import CausewaySystem

/// Computes the size of images on the terminal.
enum ImageTerminal {
    /// The size of a character in pixels, if the terminal does not report it.
    private static let standardCell = PixelSize(width: 8, height: 16)
    /// The maximum height of a displayed image in pixels. A long and narrow image is made smaller, so that it does not
    /// exceed this height.
    private static let maximumHeight = 4_096

    private static let size: winsize = {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0 else { return winsize() }
        return size
    }()

    /// The number of columns; 80 if unknown.
    static var columnCount: Int { size.ws_col > 0 ? Int(size.ws_col) : 80 }

    /// The size of a character in pixels.
    private static var cell: PixelSize {
        let (width, height) = (Int(size.ws_xpixel), Int(size.ws_ypixel))
        guard size.ws_col > 0, size.ws_row > 0, width >= size.ws_col, height >= size.ws_row else { return standardCell }
        return PixelSize(width: width / Int(size.ws_col), height: height / Int(size.ws_row))
    }

    /// The maximum size in pixels of an image that may take all columns.
    static func pixels(for kind: TerminalImage.Kind, columns: Int) -> PixelSize {
        switch kind {
        case .blocks, .blocks256: PixelSize(width: columns, height: maximumHeight)
        case .kitty, .sixel: PixelSize(width: min(columns * cell.width, maximumHeight), height: maximumHeight)
        }
    }

    /// The number of columns that an image fills.
    static func columns(for kind: TerminalImage.Kind, pixels: Int) -> Int {
        switch kind {
        case .blocks, .blocks256: pixels
        case .kitty, .sixel: (pixels + cell.width - 1) / cell.width
        }
    }
}
