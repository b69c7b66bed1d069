public import FoundationEssentials

/// A person or an organization that a feed names.
public struct FeedPerson: Hashable, Sendable {
    /// The name.
    public var name: String?
    /// The address for mail.
    public var email: String?
    /// The page of the person.
    public var link: String?

    /// Makes a person.
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

/// A link of a feed or an item.
public struct FeedLink: Hashable, Sendable {
    /// The relation (RFC 4287 §4.2.7.2): `alternate`, `enclosure`, `self` and others.
    public var relation: String
    /// The target, absolute if the feed has a base. It is a text because not every link is a valid URL; see ``url``.
    public var href: String
    /// The media type.
    public var type: String?
    /// The title for readers.
    public var title: String?
    /// The language of the target.
    public var language: String?
    /// The count of bytes of the target as the feed writes it.
    public var length: String?

    /// Makes a link.
    public init(relation: String = "alternate", href: String, type: String? = nil) {
        self.relation = relation
        self.href = href
        self.type = type
    }

    /// The target, or `nil` if it is no URL.
    public var url: URL? { URL(string: href) }
}

/// A category, tag or subject.
public struct FeedCategory: Hashable, Sendable {
    /// The name.
    public var term: String
    /// The scheme that defines the name.
    public var scheme: String?
    /// The name for readers.
    public var label: String?

    /// Makes a category.
    public init(term: String, scheme: String? = nil, label: String? = nil) {
        self.term = term
        self.scheme = scheme
        self.label = label
    }
}

/// A picture of a feed or an item.
public struct FeedImage: Hashable, Sendable {
    /// The address of the picture.
    public var href: String?
    /// The title.
    public var title: String?
    /// The page that the picture links to.
    public var link: String?
    /// The description.
    public var summary: String?
    /// The width in pixels.
    public var width: Int?
    /// The height in pixels.
    public var height: Int?

    /// Makes a picture.
    public init(href: String? = nil) { self.href = href }
}

/// The program that made a feed.
public struct FeedGenerator: Hashable, Sendable {
    /// The name.
    public var name: String?
    /// The page of the program.
    public var link: String?
    /// The version.
    public var version: String?

    /// Makes a description of a program.
    public init(name: String? = nil, link: String? = nil, version: String? = nil) {
        self.name = name
        self.link = link
        self.version = version
    }
}

/// The dates of a feed or an item.
public struct FeedDates: Hashable, Sendable {
    /// The first publication.
    public var published: FeedDate?
    /// The last change.
    public var updated: FeedDate?
    /// The creation.
    public var created: FeedDate?
    /// The end of validity.
    public var expired: FeedDate?
    /// The period of validity (`dcterms:valid`).
    public var validFrom: FeedDate?
    /// The end of the period of validity (`dcterms:valid`).
    public var validUntil: FeedDate?

    /// Makes dates of which none is known.
    public init() {}

    /// The date for a list: publication, change or creation.
    public var best: Date? { published?.date ?? updated?.date ?? created?.date }
}

/// The people of a feed or an item.
public struct FeedPeople: Hashable, Sendable {
    /// The authors.
    public var authors: [FeedPerson] = []
    /// The other contributors.
    public var contributors: [FeedPerson] = []
    /// The publisher, web master or owner.
    public var publisher: FeedPerson?

    /// Makes a list without people.
    public init() {}
}

/// What the namespace of podcasts adds (`itunes`).
public struct FeedPodcast: Hashable, Sendable {
    /// Whether directories must not show the feed or item.
    public var isBlocked: Bool?
    /// Whether the content is explicit. `nil` if that is not known.
    public var isExplicit: Bool?
    /// The duration as the feed writes it: seconds, "MM:SS" or "HH:MM:SS".
    public var duration: String?
    /// The number of the episode.
    public var episode: String?
    /// The number of the season.
    public var season: String?
    /// The kind of the episode or the feed.
    public var type: String?

    /// Makes an empty description.
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

/// A shape on the surface of the earth (GeoRSS).
public struct FeedPlace: Hashable, Sendable {
    /// The kind of a shape.
    public enum Shape: String, Hashable, Sendable {
        case point = "Point"
        case line = "LineString"
        case polygon = "Polygon"
        case box = "Box"
    }

    /// A position in degrees, or in the units of a projection.
    public struct Position: Hashable, Sendable {
        /// The longitude, or the first coordinate of a projection.
        public var longitude: Double
        /// The latitude, or the second coordinate of a projection.
        public var latitude: Double
        /// The height in meters.
        public var altitude: Double?

        /// Makes a position.
        public init(longitude: Double, latitude: Double, altitude: Double? = nil) {
            self.longitude = longitude
            self.latitude = latitude
            self.altitude = altitude
        }
    }

    /// The kind of the shape.
    public var shape: Shape
    /// The positions in the order of the feed.
    public var positions: [Position]

    /// Makes a shape.
    public init(shape: Shape, positions: [Position]) {
        self.shape = shape
        self.positions = positions
    }
}

/// A chapter of a recording (Podlove simple chapters).
public struct FeedChapter: Hashable, Sendable {
    /// The start as the feed writes it, "HH:MM:SS.mmm".
    public var start: String
    /// The title.
    public var title: String
    /// The page of the chapter.
    public var link: String?
    /// The picture of the chapter.
    public var image: String?

    /// Makes a chapter.
    public init(start: String, title: String, link: String? = nil, image: String? = nil) {
        self.start = start
        self.title = title
        self.link = link
        self.image = image
    }

    /// The start after the begin of the recording.
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
