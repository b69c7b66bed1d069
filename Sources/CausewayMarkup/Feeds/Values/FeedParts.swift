public import FoundationEssentials

/// A person or an organization in a feed.
public struct FeedPerson: Hashable, Sendable {
    /// The name.
    public var name: String?
    /// The mail address.
    public var email: String?
    /// The address of the person's web page.
    public var link: String?

    /// Creates a person.
    public init(name: String? = nil, email: String? = nil, link: String? = nil) {
        self.name = name
        self.email = email
        self.link = link
    }

    /// The person in one line: "name (mail)".
    public var line: String? {
        guard let name else { return email ?? link }
        return email.map { "\(name) (\($0))" } ?? name
    }
}

/// A feed or item link.
public struct FeedLink: Hashable, Sendable {
    /// The relation (RFC 4287 §4.2.7.2): `alternate`, `enclosure`, `self` and others.
    public var relation: String
    /// The link's target. It is absolute if the feed has a base URL. The Swift type is `String`, because some targets
    /// are not valid URLs; see ``url``.
    public var href: String
    /// The media type.
    public var type: String?
    /// The title to display.
    public var title: String?
    /// The language of the linked document.
    public var language: String?
    /// The target's size in bytes, as written in the feed.
    public var length: String?

    /// Creates a link.
    public init(relation: String = "alternate", href: String, type: String? = nil) {
        self.relation = relation
        self.href = href
        self.type = type
    }

    /// The target; `nil` if it is not a valid URL.
    public var url: URL? { URL(string: href) }
}

/// A category, tag or subject.
public struct FeedCategory: Hashable, Sendable {
    /// The name.
    public var term: String
    /// The name's scheme.
    public var scheme: String?
    /// The name to display.
    public var label: String?

    /// Creates a category.
    public init(term: String, scheme: String? = nil, label: String? = nil) {
        self.term = term
        self.scheme = scheme
        self.label = label
    }
}

/// A feed or item image.
public struct FeedImage: Hashable, Sendable {
    /// The image URL.
    public var href: String?
    /// The title.
    public var title: String?
    /// The page to which the image links.
    public var link: String?
    /// The description.
    public var summary: String?
    /// The width in pixels.
    public var width: Int?
    /// The height in pixels.
    public var height: Int?

    /// Creates an image.
    public init(href: String? = nil) { self.href = href }
}

/// The program that generated a feed.
public struct FeedGenerator: Hashable, Sendable {
    /// The name.
    public var name: String?
    /// The program's web page.
    public var link: String?
    /// The version of the program that generated the feed.
    public var version: String?

    /// Creates a generator description.
    public init(name: String? = nil, link: String? = nil, version: String? = nil) {
        self.name = name
        self.link = link
        self.version = version
    }
}

/// A feed's or item's dates.
public struct FeedDates: Hashable, Sendable {
    /// The first publication.
    public var published: FeedDate?
    /// The latest change.
    public var updated: FeedDate?
    /// The time at which the item was created.
    public var created: FeedDate?
    /// The expiry date.
    public var expired: FeedDate?
    /// The start of the validity period (`dcterms:valid`).
    public var validFrom: FeedDate?
    /// The end of the validity period (`dcterms:valid`).
    public var validUntil: FeedDate?

    /// Creates a value without dates.
    public init() {}

    /// The date to display in a list: publication, or else change, or else creation.
    public var best: Date? { published?.date ?? updated?.date ?? created?.date }
}

/// A feed's or item's people.
public struct FeedPeople: Hashable, Sendable {
    /// The authors.
    public var authors: [FeedPerson] = []
    /// The other contributors.
    public var contributors: [FeedPerson] = []
    /// The publisher, webmaster or owner.
    public var publisher: FeedPerson?

    /// Creates an empty value.
    public init() {}
}

/// Podcast properties (the `itunes` namespace).
public struct FeedPodcast: Hashable, Sendable {
    /// Whether podcast directories must not show the feed or item (`itunes:block`).
    public var isBlocked: Bool?
    /// Whether the content is explicit. `nil` if unknown.
    public var isExplicit: Bool?
    /// The duration as written in the feed: seconds, "MM:SS" or "HH:MM:SS".
    public var duration: String?
    /// The episode number.
    public var episode: String?
    /// The season number.
    public var season: String?
    /// An episode's type (`itunes:episodeType`), or a feed's type (`itunes:type`).
    public var type: String?

    /// Creates an empty value.
    public init() {}

    /// The duration in seconds.
    public var seconds: Int? {
        guard let parts = duration?.split(separator: ":").map({ Int($0) }), (1...3).contains(parts.count) else {
            return nil
        }
        var total = 0
        for part in parts {
            guard let part, part >= 0, part < 1_000_000 else { return nil }
            total = total * 60 + part
        }
        return total
    }
}

/// A geographic shape (GeoRSS).
public struct FeedPlace: Hashable, Sendable {
    /// A shape type.
    public enum Shape: String, Hashable, Sendable {
        case point = "Point"
        case line = "LineString"
        case polygon = "Polygon"
        case box = "Box"
    }

    /// A position in degrees. If the coordinates are projected, it is in the projection's units.
    public struct Position: Hashable, Sendable {
        /// The longitude, or a projection's first coordinate.
        public var longitude: Double
        /// The latitude. With projected coordinates, this is the second coordinate of the projection.
        public var latitude: Double
        /// The height in meters.
        public var altitude: Double?

        /// Creates a position.
        public init(longitude: Double, latitude: Double, altitude: Double? = nil) {
            self.longitude = longitude
            self.latitude = latitude
            self.altitude = altitude
        }
    }

    /// The shape type.
    public var shape: Shape
    /// The positions in feed order.
    public var positions: [Position]

    /// Creates a shape.
    public init(shape: Shape, positions: [Position]) {
        self.shape = shape
        self.positions = positions
    }
}

/// A chapter in a recording (Podlove simple chapters).
public struct FeedChapter: Hashable, Sendable {
    /// The start time as written in the feed, "HH:MM:SS.mmm".
    public var start: String
    /// The title.
    public var title: String
    /// The chapter's web page.
    public var link: String?
    /// The chapter's image.
    public var image: String?

    /// Creates a chapter.
    public init(start: String, title: String, link: String? = nil, image: String? = nil) {
        self.start = start
        self.title = title
        self.link = link
        self.image = image
    }

    /// The start time as an offset into the recording.
    public var offset: Duration? {
        var total = 0.0
        let parts = start.split(separator: ":")
        guard (1...3).contains(parts.count) else { return nil }
        for part in parts {
            guard let value = Double(part), value >= 0, value < 1_000_000 else { return nil }
            total = total * 60 + value
        }
        return .milliseconds(Int64((total * 1000).rounded()))
    }
}
