public import CausewayImageFormats

/// Decodes images. ``ImageDecoderProcesses`` is the standard one; programs may supply others.
///
/// Images of the network are untrusted input: a decoder must bound its memory and time, and must not run the code of libraries in the
/// program's process.
public protocol ImageDecoding: Sendable {
    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - hints: The size that is needed, and whether more of the file is on its way.
    /// - Throws: ``/CausewayImageFormats/ImageError`` if the bytes are no image or exceed a limit.
    ///
    /// Cancellation: ends the work and throws `CancellationError`.
    func decode(_ bytes: [UInt8], _ hints: ImageDecodingHints) async throws -> DecodedImage

    /// Frees what can be made again, because memory is short.
    func releaseMemory()
}

extension ImageDecoding {
    /// Does nothing.
    public func releaseMemory() {}
}

/// What a decoder may know about the use of an image.
public struct ImageDecodingHints: Hashable, Sendable {
    /// The size that is needed. The decoder may deliver a smaller image than the file has, but not below this size; `nil` for the full size.
    public var wanted: PixelSize?
    /// Whether more of the file is on its way. The result is shown until then.
    public var isPreview = false
    /// How urgent the image is.
    public var priority = ImagePriority.normal

    /// Makes hints for the full size of a whole image.
    public init() {}
}
