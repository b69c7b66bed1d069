/// A feed's or item's Media RSS elements (`media:thumbnail`, `media:credit`), in document order.
public struct FeedMedia: Hashable, Sendable {
    /// The thumbnails of the feed or item. The most important thumbnail comes first. At most 64 are kept.
    public var thumbnails: [FeedThumbnail] = []
    /// The people and organizations credited for the audio, video or image. At most 64 are kept.
    public var credits: [FeedCredit] = []

    /// Creates a value without thumbnails and credits.
    public init() {}
}

/// A thumbnail image for audio, video or an image (`media:thumbnail`).
public struct FeedThumbnail: Hashable, Sendable {
    /// The image URL, absolute if the feed has a base.
    public var href: String
    /// The width in pixels.
    public var width: Int?
    /// The height in pixels.
    public var height: Int?
    /// The video time that the image shows, as written in the feed: "12:05:01.123".
    public var time: String?

    /// Creates a thumbnail.
    public init(href: String, width: Int? = nil, height: Int? = nil, time: String? = nil) {
        self.href = href
        self.width = width
        self.height = height
        self.time = time
    }
}

/// A person or organization credited for audio, video or an image (`media:credit`).
public struct FeedCredit: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The role in lower case, such as `author` or `producer`.
    public var role: String?
    /// The role's scheme. If it is missing, Media RSS specifies `urn:ebu`.
    public var scheme: String?

    /// Creates a credit.
    public init(name: String, role: String? = nil, scheme: String? = nil) {
        self.name = name
        self.role = role
        self.scheme = scheme
    }
}
