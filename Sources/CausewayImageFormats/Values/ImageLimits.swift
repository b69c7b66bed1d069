/// Bounds for the cost of an image. What exceeds one is an error, before memory is used for it.
public struct ImageLimits: Hashable, Sendable {
    /// Bytes of a file.
    public var maximumByteCount = 32 * 1024 * 1024
    /// Pixels of an image: 4 bytes of memory each.
    public var maximumPixelCount = 50_000_000
    /// Pixels of a row or a column.
    public var maximumDimension = 16_384
    /// The time for decoding one image.
    public var decodingTime: Duration = .seconds(10)

    /// Makes the standard bounds.
    public init() {}
}

/// Why there is no image.
///
/// Match on ``code``. The ``message`` may contain text of a file or a server.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// The server answered with an error. The status is ``ImageError/status``.
        public static let status = Code(description: "status")
        /// The file has more bytes, or the image more pixels, than the limits permit.
        public static let tooLarge = Code(description: "tooLarge")
        /// The bytes are no image, or a damaged one.
        public static let malformed = Code(description: "malformed")
        /// There is no decoder for the format.
        public static let unsupported = Code(description: "unsupported")
        /// A library of the decoder is not installed. The message names its packages.
        public static let libraryMissing = Code(description: "libraryMissing")
        /// The decoder program is missing or does not start. Images are never decoded in the program's own process.
        public static let decoderMissing = Code(description: "decoderMissing")
        /// The decoder process ended, or answered nonsense: the image is at fault, or an attack.
        public static let decoderCrashed = Code(description: "decoderCrashed")
        /// Decoding took longer than the limits permit.
        public static let decoderTimedOut = Code(description: "decoderTimedOut")
        /// The image is in no cache, and the request permits no other source.
        public static let notCached = Code(description: "notCached")
        /// The directory of a disk cache cannot be used.
        public static let cacheUnusable = Code(description: "cacheUnusable")
    }

    /// The kind.
    public var code: Code
    /// The reason, for people.
    public var message: String
    /// The status of the response, if ``code`` is ``Code/status``.
    public var status: Int?

    /// Makes an error.
    public init(_ code: Code, _ message: String, status: Int? = nil) {
        self.code = code
        self.message = message
        self.status = status
    }

    /// The reason, for people.
    public var description: String { message }
}
