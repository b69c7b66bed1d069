/// An image file format, detected from the first bytes. File names and media types from the server are not trusted.
public enum ImageFormat: String, Hashable, Sendable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case webp = "WebP"
    /// The GIF format is recognized but not decoded.
    case gif = "GIF"
    /// The BMP format is recognized but not decoded.
    case bmp = "BMP"
    /// The TIFF format is recognized but not decoded.
    case tiff = "TIFF"
    /// The AVIF format is recognized but not decoded.
    case avif = "AVIF"
    /// The HEIC format is recognized but not decoded.
    case heic = "HEIC"
    /// The SVG format is recognized but not decoded.
    case svg = "SVG"

    /// Recognizes a format by a file's first bytes; `nil` for unknown formats. 16 bytes suffice; SVG needs 256.
    public init?(firstBytes bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(256))
        func has(_ text: String, at offset: Int) -> Bool {
            start.count >= offset + text.utf8.count && start[offset...].starts(with: text.utf8)
        }
        if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("RIFF", at: 0), has("WEBP", at: 8) {
            self = .webp
        } else if has("GIF8", at: 0) {
            self = .gif
        } else if has("BM", at: 0) {
            self = .bmp
        } else if start.starts(with: [0x49, 0x49, 0x2A, 0]) || start.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            self = .tiff
        } else if has("ftypavif", at: 4) || has("ftypavis", at: 4) {
            self = .avif
        } else if has("ftyphei", at: 4) || has("ftyphev", at: 4) || has("ftypmif1", at: 4) {
            self = .heic
        } else if String(decoding: start, as: UTF8.self).contains("<svg") {
            self = .svg
        } else {
            return nil
        }
    }

    /// Whether this library's decoder supports the format.
    public var isSupported: Bool {
        switch self {
        case .jpeg, .png, .webp: true
        case .gif, .bmp, .tiff, .avif, .heic, .svg: false
        }
    }
}
