public import FoundationEssentials

internal import CausewayXML

/// A text of a feed: plain, or HTML that was made safe.
public struct FeedText: Hashable, Sendable {
    /// The text. In HTML, scripts and other unsafe parts are removed and references are absolute.
    public var value: String
    /// The media type: `text/plain`, `text/html` or `application/xhtml+xml`.
    public var type: String
    /// The language as in `xml:lang` (BCP 47), if the feed names one.
    public var language: String?
    /// The base of relative references in the text.
    public var base: String?
    /// The address of content that is not in the feed (RFC 4287 §4.1.3.2).
    public var source: String?

    /// Makes a text.
    public init(
        _ value: String, type: String = "text/plain", language: String? = nil, base: String? = nil,
        source: String? = nil
    ) {
        self.value = value
        self.type = type
        self.language = language
        self.base = base
        self.source = source
    }

    /// Whether the text is HTML.
    public var isHTML: Bool { type == "text/html" || type == "application/xhtml+xml" }

    /// The text without tags and references, for a line of a list.
    public var plainText: String {
        isHTML ? HTMLText.plain(value) : value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// A date of a feed.
public struct FeedDate: Hashable, Sendable {
    /// The date as the feed writes it.
    public var text: String
    /// The moment, or `nil` if the text is no date that is known.
    public var date: Date?

    /// Reads a date in the form of RFC 822, RFC 3339, W3C or another form that feeds use.
    public init(_ text: String) {
        self.text = text
        date = FeedDateParser.date(text)
    }
}
