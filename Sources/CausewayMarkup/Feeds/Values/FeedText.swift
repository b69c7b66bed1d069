public import FoundationEssentials

/// A text in a feed: plain text or sanitized HTML.
public struct FeedText: Hashable, Sendable {
    /// The text. In HTML, scripts and other unsafe parts are removed, and references are absolute.
    public var value: String
    /// The media type: `text/plain`, `text/html` or `application/xhtml+xml`. An Atom feed can state others. A text of
    /// another type is as the feed has it: nothing unsafe is removed.
    public var type: String
    /// The language as in `xml:lang` (BCP 47), if the feed states one.
    public var language: String?
    /// The base URL for relative references in the text.
    public var base: String?
    /// The URL of content outside the feed (RFC 4287 §4.1.3.2).
    public var source: String?

    /// Creates a text.
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

    /// The text for a line in a list. If the text is HTML, tags are removed, and character references are replaced by
    /// their characters.
    public var plainText: String {
        isHTML ? HTMLText.plain(value) : value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// A date in a feed.
public struct FeedDate: Hashable, Sendable {
    /// The date as written in the feed.
    public var text: String
    /// The parsed date; `nil` if the text has no known form.
    public var date: Date?

    /// Parses a date in RFC 822, RFC 3339, W3C or another form found in feeds.
    public init(_ text: String) {
        self.text = text
        date = FeedDateParser.date(text)
    }
}
