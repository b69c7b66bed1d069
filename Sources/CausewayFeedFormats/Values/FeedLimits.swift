/// Bounds for the cost of a feed.
///
/// With the standard values a document of any length needs less than 16 MiB of memory beyond the texts that are kept, and 100 MB of any
/// content need less than a second: the time is proportional to the bytes, and what costs more than plain text is counted. A limit that ends
/// the document is noted in ``Feed/problems``, and the items before it are kept.
public struct FeedLimits: Hashable, Sendable {
    /// Items. One more ends the document.
    public var items = 20_000
    /// Bytes of one content or summary. The rest is cut off.
    public var textByteCount = 1024 * 1024
    /// Bytes of one title or other short text. The rest is cut off.
    public var titleByteCount = 64 * 1024
    /// Bytes of all texts. More end the document.
    public var totalByteCount = 32 * 1024 * 1024
    /// Tags, attributes and uncommon references of the document, and the same number for HTML and for parts of its texts: keywords, numbers
    /// of positions, each 8 bytes of dates and people, and each 32 bytes of long attributes. A picture counts four times, a declaration of a
    /// namespace twice. More end the document.
    public var markup = 1_500_000
    /// Bytes of a document of JSON Feed, which is read as a whole. A longer one is an error.
    public var jsonByteCount = 4 * 1024 * 1024
    /// Names of elements as a document writes them, and the names of RSS or Atom that they stand for: `["headline": "title"]`. It makes a
    /// feed of another vocabulary readable.
    public var tagMap: [String: String] = [:]

    /// Makes the standard bounds.
    public init() {}
}

/// Why a document is no feed.
///
/// Match on ``code``. Read ``description`` to tell a person.
public struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let name: String

        /// The document has no characters.
        public static let empty = Code(name: "empty")
        /// The document has no element of a feed, for example because it is a page of HTML.
        public static let notAFeed = Code(name: "notAFeed")
        /// The document is longer than the limits permit.
        public static let tooLarge = Code(name: "tooLarge")
        /// The server answered with an error.
        public static let status = Code(name: "status")

        public var description: String { name }
    }

    /// The kind of the failure.
    public var code: Code
    /// The failure in plain words.
    public var message: String
    /// The violations that were found before.
    public var problems: [FeedProblem]
    /// The status of the response, for ``FeedError/Code/status``.
    public var status: Int?

    /// Makes an error.
    public init(_ code: Code, _ message: String, problems: [FeedProblem] = [], status: Int? = nil) {
        self.code = code
        self.message = message
        self.problems = problems
        self.status = status
    }

    public var description: String { problems.first.map { "\(message) (\($0))" } ?? message }
}
