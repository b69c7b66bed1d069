public import CausewayImageFormats

/// Decodes images. ``ImageDecoderProcesses`` is the default; programs may supply other decoders.
///
/// Images from the network are untrusted input: a decoder must limit its memory and time, and must not run library code
/// in the program's process.
public protocol ImageDecoding: Sendable {
    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - hints: The needed size, and whether the file is still loading.
    /// - Throws: ``/CausewayImageFormats/ImageError`` if the bytes are not an image or exceed a limit.
    ///
    /// Cancellation: ends the work and throws `CancellationError`.
    func decode(_ bytes: [UInt8], _ hints: ImageDecodingHints) async throws -> DecodedImage

    /// Frees memory that can be recreated, in response to memory pressure.
    func releaseMemory()
}

extension ImageDecoding {
    /// Does nothing.
    public func releaseMemory() {}
}

/// Hints for the decoder about the use of an image.
public struct ImageDecodingHints: Hashable, Sendable {
    /// The size that the program needs; `nil` for the full size.
    ///
    /// The decoder may return a smaller image than the file contains, but never a smaller image than this size.
    public var wanted: PixelSize?
    /// Whether the file is still loading. If so, the decoded image is shown as a preview.
    public var isPreview = false
    /// The image's priority.
    public var priority = ImagePriority.normal

    /// Creates hints for a whole image in full size.
    public init() {}
}
