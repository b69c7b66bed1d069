/// Encodes images for terminals.
package enum TerminalImage {
    /// An image display method.
    package enum Kind: String, Sendable, CaseIterable {
        /// The kitty graphics protocol, which transmits all pixels unchanged.
        case kitty
        /// Sixels, the graphics format of the VT340 terminal, with at most 240 colours.
        case sixel
        /// Two pixels per character, with 24-bit colours.
        case blocks
        /// Each character shows two pixels, with the 256 xterm colours.
        case blocks256
    }

    /// Chooses how to show an image on the terminal. Environment variables show which methods the terminal supports.
    package static func kind(environment: [String: String]) -> Kind {
        let term = environment["TERM"] ?? ""
        let program = environment["TERM_PROGRAM"] ?? ""
        // A terminal multiplexer, such as tmux, does not pass graphics on to the terminal.
        let isMultiplexed = environment["TMUX"] != nil || term.hasPrefix("screen") || term.hasPrefix("tmux")
        if !isMultiplexed {
            if environment["KITTY_WINDOW_ID"] != nil || term.contains("kitty") || term.contains("ghostty")
                || program == "ghostty" || program == "WezTerm"
            {
                return .kitty
            }
            if term.contains("sixel") || term.hasPrefix("mlterm") || term.hasPrefix("foot") || term.hasPrefix("yaft") {
                return .sixel
            }
        }
        let colour = environment["COLORTERM"] ?? ""
        return colour == "truecolor" || colour == "24bit" || term.contains("direct") ? .blocks : .blocks256
    }

    /// Returns the bytes that display an image.
    ///
    /// - Parameter columns: The width of the displayed image in character columns. Only the kitty protocol uses it,
    ///   because there the terminal scales the image. With the other methods, the bitmap's size determines the width.
    package static func bytes(_ bitmap: Bitmap, as kind: Kind, columns: Int) -> [UInt8] {
        switch kind {
        case .kitty: Kitty.bytes(bitmap, columns: columns)
        case .sixel: Sixel.bytes(bitmap)
        case .blocks: HalfBlocks.bytes(bitmap, hasAllColours: true)
        case .blocks256: HalfBlocks.bytes(bitmap, hasAllColours: false)
        }
    }
}

/// Draws two pixels per character cell: the upper half has the text colour, the lower half the background colour.
private enum HalfBlocks {
    static func bytes(_ bitmap: Bitmap, hasAllColours: Bool) -> [UInt8] {
        var out: [UInt8] = []
        for y in stride(from: 0, to: bitmap.height, by: 2) {
            for x in 0..<bitmap.width {
                let (upper, lower) = (bitmap[x, y], bitmap[x, y + 1])
                switch (upper.alpha >= 128, lower.alpha >= 128) {
                case (false, false): out += "\u{1B}[0m ".utf8
                case (true, false): out += "\u{1B}[0;38;\(colour(upper, hasAllColours))m\u{2580}".utf8
                case (false, true): out += "\u{1B}[0;38;\(colour(lower, hasAllColours))m\u{2584}".utf8
                case (true, true):
                    out +=
                        "\u{1B}[38;\(colour(upper, hasAllColours));48;\(colour(lower, hasAllColours))m\u{2580}".utf8
                }
            }
            out += "\u{1B}[0m\n".utf8
        }
        return out
    }

    private static func colour(_ pixel: (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8), _ isFull: Bool) -> String
    {
        if isFull { return "2;\(pixel.red);\(pixel.green);\(pixel.blue)" }
        // Choose the nearest colour in xterm's colour cube, which has 6 x 6 x 6 colours.
        let parts = [pixel.red, pixel.green, pixel.blue].map { (Int($0) * 5 + 127) / 255 }
        return "5;\(16 + parts[0] * 36 + parts[1] * 6 + parts[2])"
    }
}

private enum Kitty {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let chunk = 4096

    static func bytes(_ bitmap: Bitmap, columns: Int) -> [UInt8] {
        let text = base64(bitmap.pixels)
        var out: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: chunk) {
            let end = min(start + chunk, text.count)
            // `q=2` tells the terminal to send no reply. The reply would otherwise be read as input.
            let first = "a=T,f=32,s=\(bitmap.width),v=\(bitmap.height),c=\(columns),q=2,"
            out += "\u{1B}_G\(start == 0 ? first : "")m=\(end < text.count ? 1 : 0);".utf8
            out += text[start..<end]
            out += "\u{1B}\\".utf8
        }
        return out + "\n".utf8
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            let value = (0..<3).reduce(0) { $0 << 8 | ($1 < count ? Int(bytes[start + $1]) : 0) }
            for part in 0..<4 {
                out.append(part <= count ? letters[value >> (18 - 6 * part) & 63] : UInt8(ascii: "="))
            }
        }
        return out
    }
}
