/// Feed namespaces and their usual prefixes.
enum FeedNamespaces {
    static let svg = "http://www.w3.org/2000/svg"
    static let mathML = "http://www.w3.org/1998/Math/MathML"
    static let xhtml = "http://www.w3.org/1999/xhtml"
    static let atom = "http://www.w3.org/2005/atom"
    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// Returns a namespace's usual prefix; `nil` for an unknown namespace.
    static func prefix(_ namespace: String) -> String? {
        var namespace = XMLCharacters.lowercased(namespace)
        if let prefix = prefixes[namespace] { return prefix }
        if namespace.hasSuffix("/") { namespace.removeLast() }
        // In some old feeds, the podcast namespace has another host name. So compare only the end of the namespace.
        return namespace.hasSuffix("dtds/podcast-1.0.dtd") ? "itunes" : nil
    }

    /// The prefix for each namespace. The namespaces are in lower case. RSS and Atom elements have an empty prefix.
    private static let prefixes: [String: String] = [
        "http://backend.userland.com/rss": "", "http://backend.userland.com/rss2": "",
        "http://blogs.law.harvard.edu/tech/rss": "",
        "http://purl.org/rss/1.0/": "", "http://my.netscape.com/rdf/simple/0.9/": "",
        "http://my.netscape.com/publish/formats/rss-0.91.dtd": "",
        "http://example.com/newformat#": "", "http://example.com/necho": "", "http://purl.org/echo/": "",
        "uri/of/echo/namespace#": "",
        "http://purl.org/pie/": "", "http://purl.org/atom/ns#": "", atom: "",
        "http://purl.org/rss/1.0/modules/rss091#": "",
        "http://purl.org/net/rss1.1#": "", "http://backend.userland.com/rss091": "",
        "http://backend.userland.com/rss092": "",
        "http://purl.org/dc/elements/1.1/": "dc", "http://purl.org/dc/elements/1.0/": "dc",
        "http://purl.org/dc/terms/": "dcterms",
        "http://purl.org/rss/1.0/modules/content/": "content", "http://search.yahoo.com/mrss": "media",
        "http://search.yahoo.com/mrss/": "media", "http://www.rssboard.org/media-rss": "media",
        "http://www.georss.org/georss": "georss", "http://www.opengis.net/gml": "gml",
        "http://www.w3.org/2003/01/geo/wgs84_pos#": "geo",
        rdf: "rdf", "http://webns.net/mvcb/": "admin", "http://purl.org/rss/1.0/modules/syndication/": "sy",
        "http://wellformedweb.org/commentapi/": "wfw", "http://purl.org/rss/1.0/modules/slash/": "slash",
        "http://purl.org/syndication/thread/1.0": "thr",
        "http://backend.userland.com/creativecommonsrssmodule": "creativecommons",
        "http://cyber.law.harvard.edu/rss/creativecommonsrssmodule.html": "creativecommons",
        "http://web.resource.org/cc/": "cc",
        "http://creativecommons.org/ns#": "cc", "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
        "http://podlove.org/simple-chapters": "psc", "http://podlove.org/simple-chapters/": "psc", xhtml: "xhtml",
        "https://podcastindex.org/namespace/1.0": "podcast",
        "http://www.google.com/schemas/play-podcasts/1.0": "googleplay",
        "http://www.w3.org/1999/xlink": "xlink", "http://www.w3.org/xml/1998/namespace": "xml",
    ]
}

/// Element and attribute keys by name. Caches the latest namespaces, because a document has few namespaces.
struct FeedKeys: Sendable {
    private var recent: [(namespace: String, prefix: String?)] = []

    private static let maximumCount = 4

    /// Returns a name's key: "prefix_local" in lower case, or "local" for RSS and Atom elements.
    mutating func key(_ name: XMLName) -> String {
        let local = XMLCharacters.lowercased(name.local)
        let prefix = name.namespace.isEmpty ? nil : self.prefix(name.namespace)
        guard let prefix = prefix ?? (name.prefix.isEmpty ? nil : XMLCharacters.lowercased(name.prefix)) else {
            return local
        }
        return prefix.isEmpty ? local : prefix + "_" + local
    }

    private mutating func prefix(_ namespace: String) -> String? {
        if let found = recent.first(where: { $0.namespace == namespace }) { return found.prefix }
        let prefix = FeedNamespaces.prefix(namespace)
        if recent.count == Self.maximumCount { recent.removeFirst() }
        recent.append((namespace, prefix))
        return prefix
    }
}

/// An element's attributes by key.
struct FeedAttributes: Sendable {
    private let values: [(key: String, value: String)]

    /// The values' total size in bytes.
    let byteCount: Int

    /// Creates an element's attributes; empty if the values have more bytes than permitted.
    init(_ attributes: [XMLAttribute], _ keys: inout FeedKeys, maximumByteCount: Int) {
        let count = attributes.reduce(0) { $0 + $1.value.utf8.count }
        byteCount = count <= maximumByteCount ? count : 0
        values = count <= maximumByteCount ? attributes.map { (keys.key($0.name), $0.value) } : []
    }

    /// Returns an attribute's trimmed value; `nil` if it is missing or empty.
    subscript(_ key: String) -> String? {
        guard let value = values.first(where: { $0.key == key })?.value else { return nil }
        let trimmed = XMLCharacters.trimmed(value)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// Returns an attribute's value, which may be empty.
    func raw(_ key: String) -> String? { values.first { $0.key == key }?.value }

    /// The attributes in document order.
    var all: [(key: String, value: String)] { values }
}
