internal import Foundation

/// The content of a `data:` URL (RFC 2397).
struct DataURL: Equatable {
    /// The media type in lower case. Default `text/plain`.
    private(set) var mimeType = "text/plain"
    /// The charset in lower case; `nil` if the URL names none.
    private(set) var charset: String?
    private(set) var content: Data

    /// Parses a URL. Returns `nil` for one without a comma, with a media type that is not valid, or with broken base64.
    init?(_ url: URL) {
        guard url.scheme?.lowercased() == "data" else { return nil }
        let text = url.absoluteString.dropFirst("data:".count)
        let withoutFragment = text.prefix { $0 != "#" }
        guard let comma = withoutFragment.firstIndex(of: ",") else { return nil }
        let body = PercentEncoding.decoded(Array(withoutFragment[withoutFragment.index(after: comma)...].utf8))
        content = Data(body)
        guard let isBase64 = readMediaType(String(withoutFragment[..<comma])) else { return nil }
        guard isBase64 else { return }
        guard let decoded = Self.decodedBase64(body) else { return nil }
        content = decoded
    }

    /// Reads the part before the comma. Returns whether the content is in base64, or `nil` if the part is not valid.
    private mutating func readMediaType(_ text: String) -> Bool? {
        var parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        let type = parts.removeFirst()
        if !type.isEmpty {
            let halves = type.split(separator: "/", omittingEmptySubsequences: false)
            guard halves.count == 2, halves.allSatisfy({ Self.isToken($0) }) else { return nil }
            mimeType = type.lowercased()
        }
        var isBase64 = false
        for (place, part) in parts.enumerated() {
            if place == parts.count - 1, part.lowercased() == "base64" { isBase64 = true }
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].lowercased() == "charset", charset == nil else { continue }
            guard Self.isToken(pair[1]) else { return nil }
            charset = pair[1].lowercased()
        }
        return isBase64
    }

    /// Whether the text is a token (RFC 9110 §5.6.2). A percent sign is not allowed here, because the parts are not percent-encoded.
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Decodes base64 with or without padding. White space is ignored.
    private static func decodedBase64(_ bytes: [UInt8]) -> Data? {
        var text = bytes.filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        guard text.count % 4 != 1 else { return nil }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(text))
    }
}
