/// Limits for a feed's cost.
///
/// With the default limits, a document of any length needs less than 16 MiB of memory in addition to its stored texts.
/// Parsing 100 MB of any content takes less than a second, because the time is proportional to the byte count, and
/// because content that takes longer than plain text is limited. If an XML document exceeds a limit that stops the
/// parser, ``Feed/problems`` reports this, and the earlier items are kept.
public struct FeedLimits: Hashable, Sendable {
    /// Maximum item count. The parser stops at the next item.
    public var items = 20_000
    /// Maximum bytes per content or summary. The rest is cut off.
    public var textByteCount = 1024 * 1024
    /// Maximum bytes per title or other short text. The rest is cut off.
    public var titleByteCount = 64 * 1024
    /// Maximum bytes in all texts together. The parser stops when the texts exceed this limit.
    public var totalByteCount = 32 * 1024 * 1024
    /// Maximum number of tags, attributes and uncommon references in the document. A namespace declaration counts
    /// twice.
    ///
    /// A second limit of the same size applies to HTML in texts, and to other content that takes much work:
    ///
    /// - One unit for each keyword, for every 2 bytes of positions, for every 8 bytes of dates and people, and for
    ///   every 32 bytes of long attributes.
    /// - Four units for each image, and for each date of a validity period.
    ///
    /// The parser stops when either limit is exceeded.
    public var markup = 1_500_000
    /// Maximum bytes in a JSON Feed document, which is parsed as a whole. A longer document is an error.
    public var jsonByteCount = 4 * 1024 * 1024
    /// Maps element names in the document to RSS or Atom names: `["headline": "title"]`. With this map, feeds in
    /// another vocabulary can be parsed.
    public var tagMap: [String: String] = [:]

    /// Creates the default limits.
    public init() {}
}

/// The error for a document that is not a readable feed.
///
/// Match on ``code``; ``description`` is for people.
public struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error code.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        /// The document has no characters.
        public static let empty = Code(name: "empty")
        /// The document has no feed element, for example because it is an HTML page.
        public static let notAFeed = Code(name: "notAFeed")
        /// The document exceeds the limits.
        public static let tooLarge = Code(name: "tooLarge")
        /// The server responded with an error status.
        public static let status = Code(name: "status")

        public var description: String { name }
    }

    /// The error code.
    public var code: Code
    /// A human-readable description.
    public var message: String
    /// The violations found before the error.
    public var problems: [FeedProblem]
    /// The response status, for ``FeedError/Code/status``.
    public var status: Int?

    /// Creates an error.
    public init(_ code: Code, _ message: String, problems: [FeedProblem] = [], status: Int? = nil) {
        self.code = code
        self.message = message
        self.problems = problems
        self.status = status
    }

    public var description: String { problems.first.map { "\(message) (\($0))" } ?? message }
}
