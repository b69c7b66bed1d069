/// Transforms a decoded image, for example by scaling.
///
/// Processors with equal identifiers are equal: their results share a memory cache entry.
public struct ImageProcessor: Hashable, Sendable, CustomStringConvertible {
    /// How to fit an image into a size with another aspect ratio.
    public enum Fit: String, Hashable, Sendable {
        /// The whole image is visible inside the size. One side may be shorter than requested.
        case inside
        /// The size is filled. Parts of the image that extend beyond it are cropped equally on both sides.
        case filling
        /// Width and height are scaled independently.
        case stretched
    }

    /// Identifies the processor.
    public let identifier: String
    /// The image size that the processor needs; `nil` for the full size. The decoder may reduce the image, but not
    /// below this size.
    package let wanted: PixelSize?
    private let body: @Sendable (Bitmap) -> Bitmap

    /// Creates a processor from a closure.
    ///
    /// - Parameters:
    ///   - identifier: Must differ for processors with different results.
    ///   - body: Runs on a library thread. It must not block.
    public init(identifier: String, _ body: @escaping @Sendable (Bitmap) -> Bitmap) {
        self.init(identifier, wanted: nil, body)
    }

    package init(_ identifier: String, wanted: PixelSize?, _ body: @escaping @Sendable (Bitmap) -> Bitmap) {
        self.identifier = identifier
        self.wanted = wanted
        self.body = body
    }

    /// Scales to a size, in pixels. Larger images are averaged, smaller images are interpolated.
    ///
    /// - Parameters:
    ///   - width: From 1 to 16,384.
    ///   - height: From 1 to 16,384.
    ///   - fit: How to fit the image if the aspect ratio differs.
    ///   - enlarges: Whether smaller images are scaled up.
    public static func resize(
        width: Int, height: Int, fit: Fit = .inside, enlarges: Bool = false
    ) -> ImageProcessor {
        let size = PixelSize(width: max(1, min(width, 16_384)), height: max(1, min(height, 16_384)))
        let identifier = "resize(\(size.width),\(size.height),\(fit.rawValue),\(enlarges))"
        return ImageProcessor(identifier, wanted: size) { bitmap in
            switch fit {
            case .stretched:
                Resampling.scaled(bitmap, to: Resampling.bounded(size, bitmap, enlarges))
            case .inside:
                Resampling.scaled(bitmap, to: Resampling.inside(size, bitmap, enlarges))
            case .filling:
                Resampling.filled(bitmap, size, enlarges)
            }
        }
    }

    /// Crops to a rectangle, in pixels from the top left. Parts outside the image are ignored; if nothing remains, the
    /// image is unchanged.
    public static func crop(x: Int, y: Int, width: Int, height: Int) -> ImageProcessor {
        ImageProcessor("crop(\(x),\(y),\(width),\(height))", wanted: nil) { bitmap in
            Resampling.part(bitmap, x: x, y: y, width: width, height: height) ?? bitmap
        }
    }

    /// Rounds the corners with a radius in pixels.
    public static func rounded(radius: Int) -> ImageProcessor {
        ImageProcessor("rounded(\(radius))", wanted: nil) { Corners.rounded($0, radius: Double(radius)) }
    }

    /// Crops to a centered circle.
    public static let circle = ImageProcessor("circle", wanted: nil) { bitmap in
        let side = min(bitmap.width, bitmap.height)
        let square = Resampling.part(
            bitmap, x: (bitmap.width - side) / 2, y: (bitmap.height - side) / 2, width: side, height: side)
        return Corners.rounded(square ?? bitmap, radius: Double(side) / 2)
    }

    /// Blurs with a radius in pixels, at most 256. Three box blurs approximate a Gaussian filter.
    public static func blur(radius: Int) -> ImageProcessor {
        let radius = max(0, min(radius, 256))
        return ImageProcessor("blur(\(radius))", wanted: nil) { Blur.blurred($0, radius: radius) }
    }

    /// Returns the processed image.
    public func callAsFunction(_ bitmap: Bitmap) -> Bitmap { body(bitmap) }

    /// The identifier.
    public var description: String { identifier }

    /// Compares the identifiers.
    public static func == (a: ImageProcessor, b: ImageProcessor) -> Bool { a.identifier == b.identifier }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension Sequence<ImageProcessor> {
    /// The minimum image size that the decoder must return. This is the size that the first processor needs; `nil` for
    /// the full size.
    package var wanted: PixelSize? { first { _ in true }?.wanted }
}
