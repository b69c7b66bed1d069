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

/// Information about an image's use, for the decoder.
public struct ImageDecodingHints: Hashable, Sendable {
    /// The needed size; `nil` for the full size. The decoder may return an image smaller than the file's, but not below
    /// this size.
    public var wanted: PixelSize?
    /// Whether the file is still loading. The result is then shown as a preview.
    public var isPreview = false
    /// The image's priority.
    public var priority = ImagePriority.normal

    /// Creates hints for a whole image in full size.
    public init() {}
}
