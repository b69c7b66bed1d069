/// A bitmap: pixel rows from the top. Each pixel has 4 bytes in the order red, green, blue, alpha (sRGB, not
/// premultiplied).
public struct Bitmap: Hashable, Sendable {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// `width * height * 4` bytes.
    public private(set) var pixels: [UInt8]
    /// Whether no pixel is transparent.
    public let isOpaque: Bool

    /// Creates a bitmap.
    ///
    /// - Returns: `nil` if the byte count does not match the size, or the size is not positive.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard Self.byteCount(width, height) == pixels.count else { return nil }
        let isOpaque = stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
        self.init(width: width, height: height, pixels: pixels, isOpaque: isOpaque)
    }

    /// Creates a bitmap. Does not check whether `isOpaque` is true of the pixels. Traps if the byte count does not
    /// match the size.
    package init(width: Int, height: Int, pixels: [UInt8], isOpaque: Bool) {
        precondition(Self.byteCount(width, height) == pixels.count, "\(width) x \(height), \(pixels.count) bytes")
        self.width = width
        self.height = height
        self.pixels = pixels
        self.isOpaque = isOpaque
    }

    /// The size of the pixels in bytes.
    public var byteCount: Int { pixels.count }

    /// The pixel in a column and a row, both from 0; transparent black outside the bitmap.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        guard x >= 0, y >= 0, x < width, y < height else { return (0, 0, 0, 0) }
        let start = (y * width + x) * 4
        return (pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3])
    }

    /// Returns the byte count for a size; `nil` if the size is not positive or too large.
    package static func byteCount(_ width: Int, _ height: Int) -> Int? {
        guard width > 0, height > 0 else { return nil }
        let (area, overflows) = width.multipliedReportingOverflow(by: height)
        let (count, overflowsToo) = area.multipliedReportingOverflow(by: 4)
        return overflows || overflowsToo ? nil : count
    }
}

/// A size in pixels.
public struct PixelSize: Hashable, Sendable {
    /// The number of pixels in a row.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A decoded image.
public struct DecodedImage: Hashable, Sendable {
    /// The pixels.
    public var bitmap: Bitmap
    /// The file's format.
    public var format: ImageFormat
    /// The size in the file. The bitmap may be smaller if a smaller size was requested.
    public var fullSize: PixelSize
    /// Whether the file is truncated or damaged. The bitmap then contains the decodable part.
    public var isIncomplete: Bool

    /// Creates an image.
    public init(bitmap: Bitmap, format: ImageFormat, fullSize: PixelSize? = nil, isIncomplete: Bool = false) {
        self.bitmap = bitmap
        self.format = format
        self.fullSize = fullSize ?? PixelSize(width: bitmap.width, height: bitmap.height)
        self.isIncomplete = isIncomplete
    }
}
