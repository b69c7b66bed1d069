extension FeedBuilder {
    /// Processes the start tag of an element.
    mutating func begin(_ key: String, _ roles: FeedElementRoles, _ attributes: FeedAttributes, name: XMLName) {
        noteNamespace(name.namespace)
        if roles.contains(.text) { return beginCapture(key, attributes) }
        guard roles.contains(.start) else { return }
        switch key {
        case "rss", "rdf_rdf", "feed":
            if frames.count == 1 || feed.format == .unknown { setFormat(key, attributes, name: name) }
        case "channel", "rdf_channel": beginChannel(attributes)
        case "item", "entry", "product": beginItem(attributes)
        case "source" where parts.contains(.item) && feed.format.isAtom:
            if parts.insert(.source).inserted { source = Feed() }
        case "image" where parts.isDisjoint(with: [.person, .image]):
            image = FeedImage()
            parts.insert(.image)
        case "author", "contributor", "publisher", "managingeditor", "webmaster", "dc_creator", "dc_author",
            "dc_contributor",
            "dc_publisher", "itunes_author", "itunes_owner":
            if parts.insert(.person).inserted { person = FeedPerson() }
        case "cloud":
            if feed.services.cloud.isEmpty {
                for (key, value) in attributes.all.prefix(16) {
                    feed.services.cloud[key] = XMLCharacters.trimmed(value)
                }
            }
        case "psc_chapter": beginChapter(attributes)
        // Read the category at the start tag. At the end tag, it would follow the narrower categories that are nested
        // in the element.
        case "itunes_category": readCategory(key, attributes["text"] ?? "", attributes)
        case let key where roles.contains(.place): progress.shape.begin(key, attributes)
        default: break
        }
    }

    private mutating func setFormat(_ key: String, _ attributes: FeedAttributes, name: XMLName) {
        if let language { feed.language = language }
        let version = attributes["version"] ?? ""
        switch key {
        case "rss": feed.format = Self.rss(version)
        case "feed":
            let isAtom10 = XMLCharacters.lowercased(name.namespace) == FeedNamespaces.atom
            feed.format = isAtom10 ? .atom10 : Self.atom(version)
        default:
            feed.format = .rss10
            noteNamespace(attributes["xmlns"] ?? "")
        }
    }

    /// Detects RSS 0.90 by its namespace. Its root element does not distinguish it from RSS 1.0, because both use RDF.
    mutating func noteNamespace(_ namespace: String) {
        if feed.format == .rss10, namespace == "http://my.netscape.com/rdf/simple/0.9/" { feed.format = .rss090 }
    }

    private static func rss(_ version: String) -> FeedFormat {
        switch version {
        case "0.90": .rss090
        case "0.91": .rss091
        case "0.92": .rss092
        case "0.93": .rss093
        case "0.94": .rss094
        case let other where other.hasPrefix("2."): .rss20
        default: .rss
        }
    }

    private static func atom(_ version: String) -> FeedFormat {
        switch version {
        case "0.1": .atom01
        case "0.2": .atom02
        case "0.3": .atom03
        case "1.0": .atom10
        default: .atom
        }
    }

    private mutating func beginChannel(_ attributes: FeedAttributes) {
        if feed.format == .unknown { feed.format = .cdf }
        if let language, frames.last?.attributes.raw("xml_lang") != nil { feed.language = language }
        readShortForm(attributes)
    }

    private mutating func beginItem(_ attributes: FeedAttributes) {
        guard !parts.contains(.source) else { return }
        // If an item begins inside an item, the outer item's end tag is missing. So end the outer item first.
        endItem()
        if feed.format == .unknown { feed.format = .rss }
        item = FeedItem()
        parts.insert(.item)
        let own = attributes.raw("xml_lang") ?? attributes.raw("lang")
        if own != nil, let language { item?.language = language }
        if let about = attributes["rdf_about"].map({ resolve($0) }) { item?.core.id = about }
        readShortForm(attributes)
    }

    /// Reads the attributes of an element in the CDF format. This format has attributes where other formats have child
    /// elements.
    private mutating func readShortForm(_ attributes: FeedAttributes) {
        guard feed.format == .cdf else { return }
        if let href = attributes["href"] {
            let link = FeedLink(href: resolve(href), type: "text/html")
            change { $0.links.append(link) }
        }
        if let modified = attributes["lastmod"] { change { $0.dates.updated = FeedDate(modified) } }
    }

    private mutating func beginChapter(_ attributes: FeedAttributes) {
        guard let start = attributes["start"], let title = attributes["title"], (item?.chapters.count ?? 1000) < 1000
        else { return }
        // If an item has several chapter lists, use only the first list.
        guard frames.last?.surroundings.isInChapters == true, !progress.hasChapters else { return }
        let (link, image) = (attributes["href"].map { resolve($0) }, attributes["image"].map { resolve($0) })
        let chapter = FeedChapter(start: start, title: title, link: link, image: image)
        item?.chapters.append(chapter)
    }

    private mutating func beginCapture(_ key: String, _ attributes: FeedAttributes) {
        guard parts.isDisjoint(with: [.image, .person]), parent != "textinput",
            let standard = Self.standardType(key, isAtom: feed.format.isAtom)
        else {
            return
        }
        if key == "content", let address = attributes["src"] {
            let target = Array(resolve(address).utf8)
            budget.openByteCount -= target.count
            frames[frames.count - 1].text = target
        }
        let (type, isBase64) = TextConstruct.type(attributes["type"], mode: attributes["mode"], otherwise: standard)
        parts.insert(.capture)
        capture = MarkupCapture(key: key, type: type, isBase64: isBase64, limit: limit(key))
    }

    private func limit(_ key: String) -> Int {
        switch key {
        case "title", "dc_title", "media_title", "itunes_title", "subtitle", "tagline", "itunes_subtitle":
            limits.titleByteCount
        default: limits.textByteCount
        }
    }

    /// Returns the default media type for a text construct without a `type` attribute; `nil` for other elements.
    private static func standardType(_ key: String, isAtom: Bool) -> String? {
        switch key {
        case "title", "dc_title", "media_title", "subtitle", "tagline", "itunes_subtitle", "itunes_summary", "summary",
            "content", "rights",
            "copyright", "dc_rights", "info", "itunes_title":
            "text/plain"
        case "description", "dc_description", "media_description", "abstract", "content_encoded", "fullitem",
            "feedburner_browserfriendly",
            "media_text":
            "text/html"
        case "body", "xhtml_body", "xhtml_div": "application/xhtml+xml"
        default: nil
        }
    }
}
