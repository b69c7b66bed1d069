/// The set of ``FeedBuilder`` functions that read an element. A table maps each element to its set. One lookup in this
/// table replaces a hundred comparisons.
struct FeedElementRoles: OptionSet, Sendable {
    let rawValue: UInt16

    /// The builder processes the start tag of the element, for example to begin an item or to read attributes.
    static let start = Self(rawValue: 1)
    /// The element is a text construct. The builder collects its content in a ``MarkupCapture``.
    static let text = Self(rawValue: 1 << 1)
    /// The element contains other elements, or it describes an object such as an item or a person. The object is
    /// complete at the end tag.
    static let container = Self(rawValue: 1 << 2)
    static let date = Self(rawValue: 1 << 3)
    static let link = Self(rawValue: 1 << 4)
    static let category = Self(rawValue: 1 << 5)
    static let podcast = Self(rawValue: 1 << 6)
    /// The element is a feed property.
    static let property = Self(rawValue: 1 << 7)
    /// The element is a GeoRSS shape or a part of a shape.
    static let place = Self(rawValue: 1 << 8)

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates the set of roles that an element with this key has in a feed.
    init(_ key: String) {
        if let known = Self.known[key] {
            self = known
        } else if key.utf8.starts(with: Self.simplePrefix) || key.utf8.starts(with: Self.markupPrefix) {
            self = [.start, .place]
        } else {
            self = []
        }
    }

    private static let simplePrefix = Array("georss_".utf8)
    private static let markupPrefix = Array("gml_".utf8)

    private static let known: [String: Self] = {
        var known: [String: Self] = [:]
        for (role, names) in names {
            for name in names.utf8.split(whereSeparator: XMLCharacters.isSpace) {
                known[String(Substring(name)), default: []].insert(role)
            }
        }
        return known
    }()

    private static let names: [(Self, String)] = [
        (
            .start,
            """
            rss rdf_rdf feed channel rdf_channel item entry product source image author contributor publisher managingeditor \
            webmaster dc_creator dc_author dc_contributor dc_publisher itunes_author itunes_owner cloud psc_chapter itunes_category
            """
        ),
        (
            .text,
            """
            title dc_title media_title subtitle tagline itunes_subtitle itunes_summary summary content rights copyright dc_rights \
            info itunes_title description dc_description media_description abstract content_encoded fullitem \
            feedburner_browserfriendly media_text body xhtml_body xhtml_div
            """
        ),
        (
            .container,
            """
            item entry product source image author managingeditor dc_creator dc_author itunes_author contributor dc_contributor \
            publisher webmaster dc_publisher itunes_owner psc_chapters channel feed rss rdf_rdf rdf_channel items rdf_seq rdf_li \
            textinput skiphours skipdays media_group redirect psc_chapter
            """
        ),
        (
            .date,
            """
            published pubdate issued dcterms_issued updated modified dc_date lastbuilddate dcterms_modified date created \
            dcterms_created expirationdate dcterms_valid
            """
        ),
        (
            .link,
            """
            link enclosure media_content a guid id cc_license creativecommons_license comments wfw_comment wfw_commentrss
            """
        ),
        (
            .category,
            """
            category dc_subject media_category itunes_category itunes_keywords media_keywords keywords tags
            """
        ),
        (
            .podcast,
            """
            itunes_block itunes_explicit itunes_duration itunes_episode itunes_season itunes_type itunes_episodetype
            """
        ),
        (
            .property,
            """
            language dc_language generator admin_generatoragent docs icon logo newlocation itunes_new-feed-url ttl hour day \
            sy_updateperiod sy_updatefrequency
            """
        ),
        (.place, "geo_lat geo_long"),
    ]
}
