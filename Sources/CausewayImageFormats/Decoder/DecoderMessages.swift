/// A request to the decoder process: the C structure `cw_image_request`, in native byte order.
package struct DecoderRequest: Hashable, Sendable {
    /// Header size in bytes.
    package static let byteCount = 32
    private static let magic: UInt32 = 0x3149_5743

    package var format: ImageFormat
    package var contentByteCount: Int
    /// The needed image size; `nil` for the full size.
    package var wanted: PixelSize?
    package var limits: ImageLimits

    package init(format: ImageFormat, contentByteCount: Int, wanted: PixelSize?, limits: ImageLimits) {
        self.format = format
        self.contentByteCount = contentByteCount
        self.wanted = wanted
        self.limits = limits
    }

    /// The header; `nil` if the decoder does not support the format.
    package var bytes: [UInt8]? {
        let code: UInt32
        switch format {
        case .jpeg: code = 1
        case .png: code = 2
        case .webp: code = 3
        case .gif, .bmp, .tiff, .avif, .heic, .svg: return nil
        }
        return [
            Self.magic, code, UInt32(clamping: contentByteCount), UInt32(clamping: wanted?.width ?? 0),
            UInt32(clamping: wanted?.height ?? 0), UInt32(clamping: limits.maximumDimension),
            UInt32(clamping: min(limits.maximumPixelCount, DecoderReply.maximumPixelCount)), 0,
        ].flatMap { NativeInteger.bytes($0) }
    }
}

/// The header of a reply from the decoder process, which is the C structure `cw_image_reply`. The process is not
/// trusted, because a malicious image may control it.
package struct DecoderReply: Hashable, Sendable {
    /// Header size in bytes.
    package static let byteCount = 32
    /// The maximum pixel count in a reply. A pixel has 4 bytes, and the byte count of all pixels must fit into 32 bits.
    package static let maximumPixelCount = 1 << 29
    private static let magic: UInt32 = 0x3152_5743
    private static let maximumMessage = 512

    /// The content after the header.
    package enum Content: Hashable, Sendable {
        case pixels(PixelSize, isOpaque: Bool)
        case failure(ImageError.Code, messageByteCount: Int)
    }

    package var content: Content
    package var fullSize: PixelSize
    package var isIncomplete: Bool

    /// Parses a header and checks it against the request.
    ///
    /// - Returns: `nil` if the header is malformed or inconsistent, or exceeds the request's limits.
    package init?(_ bytes: [UInt8], to request: DecoderRequest) {
        guard bytes.count == Self.byteCount else { return nil }
        let words = (0..<8).map { NativeInteger.value(bytes, at: $0 * 4) }
        guard words[0] == Self.magic else { return nil }
        let size = PixelSize(width: Int(words[2]), height: Int(words[3]))
        fullSize = PixelSize(width: Int(words[4]), height: Int(words[5]))
        isIncomplete = words[6] & 1 != 0
        let count = Int(words[7])
        if words[1] == 0 {
            guard Self.isPermitted(size, fullSize, request), Bitmap.byteCount(size.width, size.height) == count
            else { return nil }
            content = .pixels(size, isOpaque: words[6] & 2 != 0)
        } else {
            guard let code = Self.code(words[1]), count < Self.maximumMessage else { return nil }
            content = .failure(code, messageByteCount: count)
        }
    }

    private static func isPermitted(_ size: PixelSize, _ full: PixelSize, _ request: DecoderRequest) -> Bool {
        let limits = request.limits
        guard let byteCount = Bitmap.byteCount(full.width, full.height) else { return false }
        return size.width <= full.width && size.height <= full.height && full.width <= limits.maximumDimension
            && full.height <= limits.maximumDimension
            && byteCount / 4 <= min(limits.maximumPixelCount, maximumPixelCount)
    }

    private static func code(_ status: UInt32) -> ImageError.Code? {
        switch status {
        case 1: .malformed
        case 2, 5: .tooLarge
        case 3: .unsupported
        case 4: .libraryMissing
        case 6: .decoderMissing
        default: nil
        }
    }
}

/// Converts integers to bytes in native byte order.
enum NativeInteger {
    static func bytes(_ value: UInt32) -> [UInt8] {
        // Use the native byte order. Both processes run on the same host.
        let little = (1 as UInt32).littleEndian == 1
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        return little ? bytes : bytes.reversed()
    }

    static func value(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        let little = (1 as UInt32).littleEndian == 1
        let part = bytes[offset..<(offset + 4)]
        return (little ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
