internal import Foundation

/// Decodes text in the character encodings used on the web.
enum TextContent {
    /// Decodes the bytes to text. Returns `nil` if the encoding is unknown. Also returns `nil` if the bytes are invalid
    /// in an encoding other than UTF-8.
    static func decoded(_ data: Data, charset: String?) -> String? {
        // A byte order mark takes precedence over the encoding's name (WHATWG Encoding §6).
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return String(decoding: data.dropFirst(3), as: UTF8.self) }
        if data.starts(with: [0xFE, 0xFF]) { return String(data: data.dropFirst(2), encoding: .utf16BigEndian) }
        if data.starts(with: [0xFF, 0xFE]) { return String(data: data.dropFirst(2), encoding: .utf16LittleEndian) }
        switch charset ?? "utf-8" {
        case "utf-8", "utf8", "us-ascii", "ascii": return String(decoding: data, as: UTF8.self)
        // Browsers read Latin-1 as windows-1252, which differs from it only in the range of control characters.
        case "iso-8859-1", "latin1", "windows-1252", "cp1252":
            return String(data: data, encoding: .windowsCP1252) ?? String(data: data, encoding: .isoLatin1)
        case "iso-8859-2", "latin2": return String(data: data, encoding: .isoLatin2)
        case "windows-1250": return String(data: data, encoding: .windowsCP1250)
        case "windows-1251": return String(data: data, encoding: .windowsCP1251)
        case "utf-16", "utf-16be": return String(data: data, encoding: .utf16BigEndian)
        case "utf-16le": return String(data: data, encoding: .utf16LittleEndian)
        case "shift_jis", "shift-jis": return String(data: data, encoding: .shiftJIS)
        case "euc-jp": return String(data: data, encoding: .japaneseEUC)
        default: return nil
        }
    }
}

/// Recognizes images by their first bytes (WHATWG MIME Sniffing §6.1).
enum ImageSignature {
    /// Returns the media type; `nil` for other content.
    static func mediaType(of data: Data) -> String? {
        func has(_ bytes: [UInt8], at offset: Int = 0) -> Bool { data.dropFirst(offset).starts(with: bytes) }
        if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has(Array("GIF87a".utf8)) || has(Array("GIF89a".utf8)) { return "image/gif" }
        if has(Array("RIFF".utf8)), has(Array("WEBPVP".utf8), at: 8) { return "image/webp" }
        if has(Array("ftypavif".utf8), at: 4) { return "image/avif" }
        if has([0x49, 0x49, 0x2A, 0x00]) || has([0x4D, 0x4D, 0x00, 0x2A]) { return "image/tiff" }
        if has(Array("BM".utf8)) { return "image/bmp" }
        if has([0x00, 0x00, 0x01, 0x00]) { return "image/x-icon" }
        return nil
    }
}
