/// What Media RSS adds to a feed or an item (`media:thumbnail`, `media:credit`), in the order of the document.
public struct FeedMedia: Hashable, Sendable {
    /// The thumbnails, the most important first. At most 64 are kept.
    public var thumbnails: [FeedThumbnail] = []
    /// The people and organizations that took part in making the recording, film or picture. At most 64 are kept.
    public var credits: [FeedCredit] = []

    /// Makes a description without thumbnails and credits.
    public init() {}
}

/// A small picture that stands for a recording, film or picture (`media:thumbnail`).
public struct FeedThumbnail: Hashable, Sendable {
    /// The address of the picture, absolute if the feed has a base.
    public var href: String
    /// The width in pixels.
    public var width: Int?
    /// The height in pixels.
    public var height: Int?
    /// The moment in the film that the picture shows, as the feed writes it: "12:05:01.123".
    public var time: String?

    /// Makes a thumbnail.
    public init(href: String, width: Int? = nil, height: Int? = nil, time: String? = nil) {
        self.href = href
        self.width = width
        self.height = height
        self.time = time
    }
}

/// A person or organization that took part in making a recording, film or picture (`media:credit`).
public struct FeedCredit: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The role in lower case, such as `author` or `producer`.
    public var role: String?
    /// The scheme that defines the role. Media RSS names `urn:ebu` for one that is missing.
    public var scheme: String?

    /// Makes a credit.
    public init(name: String, role: String? = nil, scheme: String? = nil) {
        self.name = name
        self.role = role
        self.scheme = scheme
    }
}
