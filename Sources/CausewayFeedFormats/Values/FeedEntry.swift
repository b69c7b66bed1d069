/// The properties that feeds, items and the sources of items share.
public struct FeedCore: Hashable, Sendable {
    /// The identifier: Atom's `id`, RSS's `guid`, or `rdf:about`.
    public var id: String?
    /// The title.
    public var title: FeedText?
    /// The subtitle or tagline.
    public var subtitle: FeedText?
    /// The description or summary.
    public var summary: FeedText?
    /// The links, the main one with the relation `alternate`.
    public var links: [FeedLink] = []
    /// The people.
    public var people = FeedPeople()
    /// The categories in the order of the feed, without duplicates.
    public var categories: [FeedCategory] = []
    /// The dates.
    public var dates = FeedDates()
    /// The copyright or license as text.
    public var rights: FeedText?
    /// The picture.
    public var image: FeedImage?
    /// What the namespace of podcasts adds.
    public var podcast = FeedPodcast()
    /// The texts of elements without a property here, by name: `prefix_name` in lower case, the name alone without a namespace. Names are
    /// those of well-known prefixes, also if the feed uses others.
    public var extensions: [String: String] = [:]

    /// Makes an empty description.
    public init() {}

    /// The address of the page that the feed or item stands for.
    public var link: String? {
        links.first { $0.relation == "alternate" }?.href
    }

    /// The first author in one line.
    public var author: String? { people.authors.first?.line }

    /// The links with the relation `enclosure`: recordings, films, pictures.
    public var enclosures: [FeedLink] { links.filter { $0.relation == "enclosure" } }
}

/// An entry of a feed.
///
/// The properties of ``FeedCore`` are properties of the item, too.
@dynamicMemberLookup
public struct FeedItem: Hashable, Sendable {
    /// The properties that feeds and items share.
    public var core = FeedCore()
    /// The contents. Atom and RSS have at most one, in several parts or forms in old feeds.
    public var contents: [FeedText] = []
    /// The feed that the item comes from (RFC 4287 §4.2.11).
    public var source: Feed? {
        get { sources.first }
        set { sources = newValue.map { [$0] } ?? [] }
    }
    /// The language of the item as in BCP 47: `xml:lang` or `dc:language` of its element, or `language` of JSON Feed. `nil` stands for that
    /// of the feed.
    public var language: String?
    /// Thumbnails and credits of Media RSS.
    public var media = FeedMedia()
    /// The page of comments.
    public var comments: String?
    /// The place.
    public var place: FeedPlace?
    /// The chapters of the recording.
    public var chapters: [FeedChapter] = []
    /// Whether the identifier is the address of the item.
    public var isIDLink = false
    private var sources: [Feed] = []

    /// Makes an empty item.
    public init() {}

    /// Returns or changes a shared property.
    public subscript<Value>(dynamicMember path: WritableKeyPath<FeedCore, Value>) -> Value {
        get { core[keyPath: path] }
        set { core[keyPath: path] = newValue }
    }

    /// Returns a derived property.
    public subscript<Value>(dynamicMember path: KeyPath<FeedCore, Value>) -> Value { core[keyPath: path] }

    /// The text to show: the content, else the summary.
    public var body: FeedText? { contents.first ?? core.summary }

    /// A text that is equal for the same item in later versions of the feed: the identifier, else the link, else title and date.
    public var identity: String {
        core.id ?? core.link
            ?? "\(core.title?.value ?? "")\n\(core.dates.published?.text ?? core.dates.updated?.text ?? "")"
    }
}
