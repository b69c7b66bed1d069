/// Properties common to feeds, items and item sources.
public struct FeedCore: Hashable, Sendable {
    /// The identifier: Atom's `id`, RSS's `guid`, or `rdf:about`.
    public var id: String?
    /// The title.
    public var title: FeedText?
    /// The subtitle or tagline.
    public var subtitle: FeedText?
    /// The description or summary.
    public var summary: FeedText?
    /// The links. The main link has the relation `alternate`.
    public var links: [FeedLink] = []
    /// The people.
    public var people = FeedPeople()
    /// The categories in feed order, without duplicates.
    public var categories: [FeedCategory] = []
    /// The dates.
    public var dates = FeedDates()
    /// The copyright or license as text.
    public var rights: FeedText?
    /// The image.
    public var image: FeedImage?
    /// The podcast properties.
    public var podcast = FeedPodcast()
    /// The texts of elements for which the feed or item has no property. The key is the element's name in lower case:
    /// `prefix_name`, or `name` for an element without a namespace. The keys have the usual prefixes, even if the feed
    /// uses other prefixes.
    public var extensions: [String: String] = [:]

    /// Creates an empty value.
    public init() {}

    /// The URL of the page that the feed or item describes.
    public var link: String? {
        links.first { $0.relation == "alternate" }?.href
    }

    /// The first author in one line.
    public var author: String? { people.authors.first?.line }

    /// The links with the relation `enclosure`: audio, video, images.
    public var enclosures: [FeedLink] { links.filter { $0.relation == "enclosure" } }
}

/// A feed entry.
///
/// All ``FeedCore`` properties are also properties of the item.
@dynamicMemberLookup
public struct FeedItem: Hashable, Sendable {
    /// Properties common to feeds and items.
    public var core = FeedCore()
    /// The item's contents. Atom and RSS permit at most one content per item, but some old feeds split the content into
    /// parts, or repeat it in several forms.
    public var contents: [FeedText] = []
    /// The feed from which the item was copied (RFC 4287 §4.2.11).
    public var source: Feed? {
        get { sources.first }
        set { sources = newValue.map { [$0] } ?? [] }
    }
    /// The item's language (BCP 47). It comes from the item's `xml:lang` attribute, its `dc:language` element or, in
    /// JSON Feed, its `language` member. `nil` means that the item has the feed's language.
    public var language: String?
    /// Thumbnails and credits from Media RSS elements.
    public var media = FeedMedia()
    /// The URL of the comments page.
    public var comments: String?
    /// The location.
    public var place: FeedPlace?
    /// The recording's chapters.
    public var chapters: [FeedChapter] = []
    /// Whether the identifier is the item's URL.
    public var isIDLink = false
    private var sources: [Feed] = []

    /// Creates an empty item.
    public init() {}

    /// Accesses a ``FeedCore`` property. Feeds and items have these properties in common.
    public subscript<Value>(dynamicMember path: WritableKeyPath<FeedCore, Value>) -> Value {
        get { core[keyPath: path] }
        set { core[keyPath: path] = newValue }
    }

    /// Returns a computed ``FeedCore`` property, such as ``FeedCore/link``.
    public subscript<Value>(dynamicMember path: KeyPath<FeedCore, Value>) -> Value { core[keyPath: path] }

    /// The text to display: the content, or else the summary.
    public var body: FeedText? { contents.first ?? core.summary }

    /// An identity that stays the same across feed versions. It is the identifier, or else the link, or else the title
    /// and date.
    public var identity: String {
        core.id ?? core.link
            ?? "\(core.title?.value ?? "")\n\(core.dates.published?.text ?? core.dates.updated?.text ?? "")"
    }
}
