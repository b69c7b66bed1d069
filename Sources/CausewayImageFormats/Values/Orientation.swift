/// A photograph's orientation (Exif 2.3, tag 0x0112).
package enum Orientation: Int, Sendable {
    case up = 1, upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Whether rows become columns when the image is turned upright.
    package var swapsSides: Bool { rawValue >= 5 }

    /// Reads the orientation from a JPEG file's Exif segment; `.up` if it is missing or malformed.
    package init(jpeg bytes: [UInt8]) { self = Self.find(bytes).flatMap(Orientation.init(rawValue:)) ?? .up }

    private static func find(_ bytes: [UInt8]) -> Int? {
        var position = 2
        // The Exif segment is near the start, so examine at most 32 segments.
        for _ in 0..<32 {
            guard position + 4 <= bytes.count, bytes[position] == 0xFF, bytes[position + 1] != 0xDA else { return nil }
            let count = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            guard count >= 2, position + 2 + count <= bytes.count else { return nil }
            if bytes[position + 1] == 0xE1 {
                let segment = bytes[(position + 4)..<(position + 2 + count)]
                if segment.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) { return tag(Array(segment.dropFirst(6))) }
            }
            position += 2 + count
        }
        return nil
    }

    /// Reads the tag from a TIFF structure's first directory.
    private static func tag(_ tiff: [UInt8]) -> Int? {
        let isLittle = tiff.starts(with: [0x49, 0x49])
        guard isLittle || tiff.starts(with: [0x4D, 0x4D]) else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= tiff.count else { return nil }
            let bytes = tiff[offset..<(offset + count)]
            return isLittle ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let start = number(4, 4), let entries = number(start, 2) else { return nil }
        for index in 0..<min(entries, 256) {
            let entry = start + 2 + index * 12
            guard let name = number(entry, 2) else { return nil }
            if name == 0x0112 { return number(entry + 8, 2) }
        }
        return nil
    }

    /// Returns the bitmap in upright orientation, rotated or mirrored if necessary.
    package func upright(_ bitmap: Bitmap) -> Bitmap {
        guard self != .up else { return bitmap }
        let (width, height) = swapsSides ? (bitmap.height, bitmap.width) : (bitmap.width, bitmap.height)
        let source = bitmap.pixels
        var pixels = [UInt8](repeating: 0, count: source.count)
        for y in 0..<height {
            for x in 0..<width {
                let (column, row) = place(x, y, width, height)
                let (from, to) = ((row * bitmap.width + column) * 4, (y * width + x) * 4)
                for part in 0..<4 { pixels[to + part] = source[from + part] }
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels, isOpaque: bitmap.isOpaque)
    }

    /// Returns the stored coordinates for a pixel in the upright image.
    private func place(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> (Int, Int) {
        switch self {
        case .up: (x, y)
        case .upMirrored: (width - 1 - x, y)
        case .down: (width - 1 - x, height - 1 - y)
        case .downMirrored: (x, height - 1 - y)
        case .leftMirrored: (y, x)
        case .right: (y, width - 1 - x)
        case .rightMirrored: (height - 1 - y, width - 1 - x)
        case .left: (height - 1 - y, x)
        }
    }
}
