/// A feed format.
public enum FeedFormat: String, Hashable, Sendable, CaseIterable {
    case rss090, rss091, rss092, rss093, rss094, rss10, rss20
    /// Netscape's RSS 0.91, identified by its document type.
    case rss091Netscape
    /// RSS without a version, or with an unknown version.
    case rss
    case atom01, atom02, atom03, atom10
    /// Atom with an unknown version.
    case atom
    /// Channel Definition Format (1997).
    case cdf
    case json1, json11
    /// The document has no feed element.
    case unknown

    /// The format's name, for display.
    public var name: String {
        switch self {
        case .rss090: "RSS 0.90"
        case .rss091: "RSS 0.91"
        case .rss091Netscape: "RSS 0.91 (Netscape)"
        case .rss092: "RSS 0.92"
        case .rss093: "RSS 0.93"
        case .rss094: "RSS 0.94"
        case .rss10: "RSS 1.0"
        case .rss20: "RSS 2.0"
        case .rss: "RSS"
        case .atom01: "Atom 0.1"
        case .atom02: "Atom 0.2"
        case .atom03: "Atom 0.3"
        case .atom10: "Atom 1.0"
        case .atom: "Atom"
        case .cdf: "CDF"
        case .json1: "JSON Feed 1"
        case .json11: "JSON Feed 1.1"
        case .unknown: "unknown"
        }
    }

    /// Whether the format is RSS, in any version.
    public var isRSS: Bool {
        switch self {
        case .rss090, .rss091, .rss091Netscape, .rss092, .rss093, .rss094, .rss10, .rss20, .rss: true
        case .atom01, .atom02, .atom03, .atom10, .atom, .cdf, .json1, .json11, .unknown: false
        }
    }

    /// Whether the format is Atom, in any version.
    public var isAtom: Bool {
        switch self {
        case .atom01, .atom02, .atom03, .atom10, .atom: true
        case .rss090, .rss091, .rss091Netscape, .rss092, .rss093, .rss094, .rss10, .rss20, .rss, .cdf, .json1, .json11,
            .unknown:
            false
        }
    }
}

/// A feed's rules for how often it may be fetched.
public struct FeedSchedule: Hashable, Sendable {
    /// How long a copy may be used, in minutes (RSS `ttl`).
    public var minutesToLive: Int?
    /// UTC hours, 0 to 23, during which the feed does not change (RSS `skipHours`).
    public var skippedHours: Set<Int> = []
    /// UTC weekdays, 1 (Sunday) to 7, on which the feed does not change (RSS `skipDays`).
    public var skippedDays: Set<Int> = []
    /// The update period (`sy:updatePeriod`), in minutes.
    public var periodInMinutes: Int?

    /// Creates rules without restrictions.
    public init() {}
}

/// A feed's RSS elements `cloud` and `textInput`, its icon, its logo, and the URL of the format's documentation.
public struct FeedServices: Hashable, Sendable {
    /// The attributes of the RSS `cloud` element, by name in lower case.
    public var cloud: [String: String] = [:]
    /// The texts in the RSS `textInput` element, by name in lower case.
    public var textInput: [String: String] = [:]
    /// The URL of the format's documentation.
    public var documentation: String?
    /// The icon.
    public var icon: String?
    /// The logo.
    public var logo: String?

    /// Creates an empty value.
    public init() {}
}

/// A format violation from which the parser recovered.
public struct FeedProblem: Hashable, Sendable, CustomStringConvertible {
    /// The line in the document, counted from 1.
    public var line: Int
    /// The column in characters, counted from 1.
    public var column: Int
    /// A human-readable description.
    public var message: String

    /// Creates a problem.
    public init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    public var description: String { "line \(line), column \(column): \(message)" }
}

/// A feed: RSS, Atom, RDF, CDF or JSON Feed.
///
/// All ``FeedCore`` properties are also properties of the feed. HTML texts are safe to display; see ``FeedText``.
@dynamicMemberLookup
public struct Feed: Hashable, Sendable {
    /// The properties that feeds and items share.
    public var core = FeedCore()
    /// The format.
    public var format = FeedFormat.unknown
    /// The items in document order.
    public var items: [FeedItem] = []
    /// The feed's language.
    public var language: String?
    /// Media RSS thumbnails and credits.
    public var media = FeedMedia()
    /// The text for people who open the document in a browser (Atom 0.3 `info`).
    public var information: FeedText?
    /// The program that generated the feed.
    public var generator: FeedGenerator?
    /// How often the feed may be fetched.
    public var schedule = FeedSchedule()
    /// The feed's `cloud` and `textInput` interfaces, its icon, its logo, and the URL of the format's documentation.
    public var services = FeedServices()
    /// The feed's new URL, if it has moved.
    public var newLocation: String?
    /// The document's encoding in lower case.
    public var encoding: String?
    /// Format violations from which the parser recovered. Empty for a well-formed feed.
    public var problems: [FeedProblem] = []

    /// Creates an empty feed.
    public init() {}

    /// Accesses a ``FeedCore`` property. Feeds and items have these properties in common.
    public subscript<Value>(dynamicMember path: WritableKeyPath<FeedCore, Value>) -> Value {
        get { core[keyPath: path] }
        set { core[keyPath: path] = newValue }
    }

    /// Returns a computed ``FeedCore`` property, such as ``FeedCore/link``.
    public subscript<Value>(dynamicMember path: KeyPath<FeedCore, Value>) -> Value { core[keyPath: path] }

    /// Whether the document conforms to its format.
    public var isWellFormed: Bool { problems.isEmpty }
}
