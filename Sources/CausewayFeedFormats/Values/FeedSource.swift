internal import CausewayXML

/// What is known about a document from outside: its address and the fields of its response.
public struct FeedSource: Hashable, Sendable {
    /// The base of relative references: the address of the document or its `Content-Location`.
    public var base: String?
    /// The charset of the response's `Content-Type`.
    public var charset: String?
    /// The media type of the response, without parameters.
    public var mediaType: String?
    /// The language of the response (`Content-Language`).
    public var language: String?

    /// Makes a description of a document.
    public init(base: String? = nil, charset: String? = nil, mediaType: String? = nil, language: String? = nil) {
        self.base = base
        self.charset = charset
        self.mediaType = mediaType
        self.language = language
    }

    /// Makes a description of a document from its address and the fields of its response.
    ///
    /// - Parameters:
    ///   - address: The address of the document after redirects.
    ///   - contentType: The field `Content-Type`.
    ///   - contentLocation: The field `Content-Location`. One with an unsafe scheme is ignored.
    ///   - contentLanguage: The field `Content-Language`.
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
            // Some servers write apostrophes where the grammar has quotation marks.
            charset = String(pair[1].drop { $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" })
        }
    }
}
