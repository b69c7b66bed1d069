/// The format of a feed.
public enum FeedFormat: String, Hashable, Sendable, CaseIterable {
    case rss090, rss091, rss092, rss093, rss094, rss10, rss20
    /// RSS 0.91 of Netscape, which is named by its document type.
    case rss091Netscape
    /// RSS without a version, or with an unknown one.
    case rss
    case atom01, atom02, atom03, atom10
    /// Atom with an unknown version.
    case atom
    /// The Channel Definition Format of 1997.
    case cdf
    case json1, json11
    /// The document has no element of a feed.
    case unknown

    /// The name for readers.
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

    /// Whether the format is RSS of any version.
    public var isRSS: Bool {
        switch self {
        case .rss090, .rss091, .rss091Netscape, .rss092, .rss093, .rss094, .rss10, .rss20, .rss: true
        case .atom01, .atom02, .atom03, .atom10, .atom, .cdf, .json1, .json11, .unknown: false
        }
    }

    /// Whether the format is Atom of any version.
    public var isAtom: Bool {
        switch self {
        case .atom01, .atom02, .atom03, .atom10, .atom: true
        case .rss090, .rss091, .rss091Netscape, .rss092, .rss093, .rss094, .rss10, .rss20, .rss, .cdf, .json1, .json11,
            .unknown:
            false
        }
    }
}

/// A rule of a feed about how often it may be fetched.
public struct FeedSchedule: Hashable, Sendable {
    /// Minutes for which a copy of the feed may be used (RSS `ttl`).
    public var minutesToLive: Int?
    /// Hours of the day in UTC, 0 to 23, in which the feed does not change (RSS `skipHours`).
    public var skippedHours: Set<Int> = []
    /// Days of the week in UTC, 1 for Sunday to 7, in which the feed does not change (RSS `skipDays`).
    public var skippedDays: Set<Int> = []
    /// The period of updates (`sy:updatePeriod`), in minutes.
    public var periodInMinutes: Int?

    /// Makes a rule that permits everything.
    public init() {}
}

/// Interfaces to a server that RSS 2.0 describes.
public struct FeedServices: Hashable, Sendable {
    /// The attributes of RSS's `cloud`, by name in lower case.
    public var cloud: [String: String] = [:]
    /// The texts of RSS's `textInput`, by name in lower case.
    public var textInput: [String: String] = [:]
    /// The address of the format's documentation.
    public var documentation: String?
    /// The icon.
    public var icon: String?
    /// The logo.
    public var logo: String?

    /// Makes an empty description.
    public init() {}
}

/// A violation of a format that the parser recovered from.
public struct FeedProblem: Hashable, Sendable, CustomStringConvertible {
    /// The line in the document, counted from 1.
    public var line: Int
    /// The column in characters, counted from 1.
    public var column: Int
    /// The violation, in plain words.
    public var message: String

    /// Makes a problem.
    public init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    public var description: String { "line \(line), column \(column): \(message)" }
}

/// A feed: RSS, Atom, RDF, CDF or JSON Feed.
///
/// The properties of ``FeedCore`` are properties of the feed, too. Texts of HTML are safe to show; see ``FeedText``.
@dynamicMemberLookup
public struct Feed: Hashable, Sendable {
    /// The properties that feeds and items share.
    public var core = FeedCore()
    /// The format.
    public var format = FeedFormat.unknown
    /// The items in the order of the document.
    public var items: [FeedItem] = []
    /// The language of the feed.
    public var language: String?
    /// Thumbnails and credits of Media RSS.
    public var media = FeedMedia()
    /// The text for readers who see the document in a browser (Atom 0.3 `info`).
    public var information: FeedText?
    /// The program that made the feed.
    public var generator: FeedGenerator?
    /// How often the feed may be fetched.
    public var schedule = FeedSchedule()
    /// Interfaces, icon and logo.
    public var services = FeedServices()
    /// The address to which the feed has moved.
    public var newLocation: String?
    /// The encoding of the document in lower case.
    public var encoding: String?
    /// Violations of the format that the parser recovered from. Empty for a well-formed feed.
    public var problems: [FeedProblem] = []

    /// Makes an empty feed.
    public init() {}

    /// Returns or changes a shared property.
    public subscript<Value>(dynamicMember path: WritableKeyPath<FeedCore, Value>) -> Value {
        get { core[keyPath: path] }
        set { core[keyPath: path] = newValue }
    }

    /// Returns a derived property.
    public subscript<Value>(dynamicMember path: KeyPath<FeedCore, Value>) -> Value { core[keyPath: path] }

    /// Whether the document keeps the rules of its format.
    public var isWellFormed: Bool { problems.isEmpty }
}
