/// Encodes sixels: columns of six pixels in one palette colour (VT330/VT340 Programmer Reference Manual, chapter 14).
enum Sixel {
    /// The number of levels for each colour of the palette. Green has the most and blue the fewest, because the eye
    /// distinguishes green best and blue least.
    private static let levels = (red: 6, green: 8, blue: 5)

    static func bytes(_ bitmap: Bitmap) -> [UInt8] {
        let indexes = dithered(bitmap)
        var out = Array("\u{1B}P0;1q\"1;1;\(bitmap.width);\(bitmap.height)".utf8)
        for colour in Set(indexes).sorted() where colour >= 0 {
            let (red, green, blue) = parts(colour)
            out += "#\(colour);2;".utf8
            out += "\(red * 100 / (levels.red - 1));\(green * 100 / (levels.green - 1));".utf8
            out += "\(blue * 100 / (levels.blue - 1))".utf8
        }
        for top in stride(from: 0, to: bitmap.height, by: 6) {
            band(indexes, top: top, bitmap, &out)
            out.append(UInt8(ascii: "-"))
        }
        return out + "\u{1B}\\\n".utf8
    }

    /// Draws six rows of pixels, one colour after the other.
    private static func band(_ indexes: [Int], top: Int, _ bitmap: Bitmap, _ out: inout [UInt8]) {
        var lines: [Int: [UInt8]] = [:]
        let empty = [UInt8](repeating: 0, count: bitmap.width)
        for y in top..<min(top + 6, bitmap.height) {
            for x in 0..<bitmap.width where indexes[y * bitmap.width + x] >= 0 {
                lines[indexes[y * bitmap.width + x], default: empty][x] |= 1 << UInt8(y - top)
            }
        }
        for (colour, line) in lines.sorted(by: { $0.key < $1.key }) {
            out += "#\(colour)".utf8
            var (last, count) = (UInt8(0), 0)
            for bits in line {
                if bits != last {
                    put(last, count, &out)
                    (last, count) = (bits, 0)
                }
                count += 1
            }
            // Transparent pixels after the last visible pixel produce no output.
            if last != 0 { put(last, count, &out) }
            out.append(UInt8(ascii: "$"))
        }
    }

    private static func put(_ bits: UInt8, _ count: Int, _ out: inout [UInt8]) {
        let character = bits + 63
        if count > 3 {
            out += "!\(count)".utf8
            out.append(character)
        } else {
            out += [UInt8](repeating: character, count: count)
        }
    }

    /// Returns each pixel's palette colour; -1 if it is transparent. Uses ordered dithering, which needs no
    /// neighbouring pixels.
    private static func dithered(_ bitmap: Bitmap) -> [Int] {
        let pattern = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]
        let pixels = bitmap.pixels
        return (0..<(bitmap.width * bitmap.height)).map { index in
            guard pixels[index * 4 + 3] >= 128 else { return -1 }
            let (x, y) = (index % bitmap.width, index / bitmap.width)
            let offset = pattern[y % 4 * 4 + x % 4]
            func level(_ value: UInt8, _ count: Int) -> Int {
                (Int(value) * (count - 1) * 16 + offset * 255 + 127) / (255 * 16)
            }
            let red = level(pixels[index * 4], levels.red)
            let green = level(pixels[index * 4 + 1], levels.green)
            return (red * levels.green + green) * levels.blue + level(pixels[index * 4 + 2], levels.blue)
        }
    }

    private static func parts(_ colour: Int) -> (Int, Int, Int) {
        let blue = colour % levels.blue
        let rest = colour / levels.blue
        return (rest / levels.green, rest % levels.green, blue)
    }
}
