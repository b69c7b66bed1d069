/// A document's origin: its URL and its response header fields.
public struct FeedSource: Hashable, Sendable {
    /// The base for relative references: the document's URL or its `Content-Location`.
    public var base: String?
    /// The charset in the response's `Content-Type`.
    public var charset: String?
    /// The response's media type, without parameters.
    public var mediaType: String?
    /// The response's language (`Content-Language`).
    public var language: String?

    /// Creates a document description.
    public init(base: String? = nil, charset: String? = nil, mediaType: String? = nil, language: String? = nil) {
        self.base = base
        self.charset = charset
        self.mediaType = mediaType
        self.language = language
    }

    /// Creates a document description from its URL and its response header fields.
    ///
    /// - Parameters:
    ///   - address: The document's URL after redirects.
    ///   - contentType: The `Content-Type` field.
    ///   - contentLocation: The `Content-Location` field, ignored if its scheme is unsafe.
    ///   - contentLanguage: The `Content-Language` field.
    public init(
        address: String?, contentType: String? = nil, contentLocation: String? = nil, contentLanguage: String? = nil
    ) {
        base = address
        if let contentLocation, Reference.isSafe(contentLocation) {
            base = Reference.resolve(contentLocation, base: address)
        }
        language = contentLanguage.flatMap { $0.split(separator: ",").first }.map { XMLCharacters.trimmed(String($0)) }
        let parts = contentType?.split(separator: ";").map { XMLCharacters.trimmed(String($0)) } ?? []
        mediaType = parts.first.map { XMLCharacters.lowercased($0) }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { XMLCharacters.trimmed(String($0)) }
            guard pair.count == 2, XMLCharacters.lowercased(pair[0]) == "charset", charset == nil else { continue }
            // Some servers enclose the charset in apostrophes instead of quotation marks.
            charset = String(pair[1].drop { $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" })
        }
    }
}
