/// Limits for an image's cost. An image beyond a limit is rejected before memory is allocated for it.
public struct ImageLimits: Hashable, Sendable {
    /// Maximum file size in bytes.
    public var maximumByteCount = 32 * 1024 * 1024
    /// Maximum pixel count. Each pixel needs 4 bytes of memory.
    public var maximumPixelCount = 50_000_000
    /// Maximum width and height in pixels.
    public var maximumDimension = 16_384
    /// Maximum time to decode one image.
    public var decodingTime: Duration = .seconds(10)

    /// Creates the default limits.
    public init() {}
}

/// The error when an image cannot be loaded.
///
/// Match on ``code``. The ``message`` may contain text from a file or a server.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error code.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The server responded with an error. See ``ImageError/status``.
        public static let status = Code(description: "status")
        /// The file or the image exceeds ``ImageLimits``, or the decoder process has too little memory for the pixels.
        public static let tooLarge = Code(description: "tooLarge")
        /// The bytes are not an image, or the image is damaged.
        public static let malformed = Code(description: "malformed")
        /// There is no decoder for the format.
        public static let unsupported = Code(description: "unsupported")
        /// A decoder library is not installed. The message names its packages.
        public static let libraryMissing = Code(description: "libraryMissing")
        /// The decoder program is missing or does not start. This library decodes images only in the decoder program,
        /// never in the process that uses the library.
        public static let decoderMissing = Code(description: "decoderMissing")
        /// The decoder process ended or sent an invalid reply: the image is malformed or malicious.
        public static let decoderCrashed = Code(description: "decoderCrashed")
        /// Decoding exceeded the time limit.
        public static let decoderTimedOut = Code(description: "decoderTimedOut")
        /// No cache has the image, and the request permits no other source.
        public static let notCached = Code(description: "notCached")
        /// A disk cache's directory cannot be used.
        public static let cacheUnusable = Code(description: "cacheUnusable")
    }

    /// The error code.
    public var code: Code
    /// A human-readable description.
    public var message: String
    /// The response status, if ``code`` is ``Code/status``.
    public var status: Int?

    /// Creates an error.
    public init(_ code: Code, _ message: String, status: Int? = nil) {
        self.code = code
        self.message = message
        self.status = status
    }

    /// A human-readable description.
    public var description: String { message }
}
