extension FeedBuilder {
    /// Reads a link element. Returns `false` for other elements.
    mutating func readLink(_ key: String, _ value: String, _ frame: Frame) -> Bool {
        switch key {
        case "link": readLinkElement(value, frame.attributes)
        case "enclosure": readEnclosure(frame.attributes)
        case "media_content": readMedia(frame.attributes)
        case "a" where feed.format == .cdf:
            if let href = frame.attributes["href"] { append(FeedLink(href: resolve(href), type: "text/html")) }
        case "guid", "id": readIdentifier(key, value, frame.attributes)
        case "cc_license", "creativecommons_license":
            let address = resolve(value.isEmpty ? frame.attributes["rdf_resource"] ?? "" : value)
            guard !address.isEmpty else { return true }
            append(FeedLink(relation: "license", href: address))
            change { $0.extensions["license"] = address }
        case "comments":
            let address = resolve(value)
            if context == .item { item?.comments = address }
        case "wfw_comment", "wfw_commentrss":
            let address = resolve(value)
            change { $0.extensions[key] = address }
        default: return false
        }
        return true
    }

    private mutating func append(_ link: FeedLink) {
        change { if $0.links.count < 256 { $0.links.append(link) } }
    }

    private mutating func readLinkElement(_ value: String, _ attributes: FeedAttributes) {
        let target = attributes["href"] ?? value
        // Accept an empty reference only in `href`, where it means the base URL.
        guard !target.isEmpty || (attributes.raw("href") != nil && base != nil) else { return }
        let relation = attributes["rel"] ?? "alternate"
        let standard = relation == "self" ? "application/atom+xml" : "text/html"
        var link = FeedLink(relation: relation, href: resolve(target), type: attributes["type"] ?? standard)
        link.title = attributes["title"]
        link.language = attributes["hreflang"]
        link.length = attributes["length"]
        append(link)
    }

    private mutating func readEnclosure(_ attributes: FeedAttributes) {
        guard let url = attributes["url"] ?? attributes["href"] else { return }
        var link = FeedLink(relation: "enclosure", href: resolve(url), type: attributes["type"])
        link.length = attributes["length"]
        append(link)
    }

    /// Reads a `media:content` element as an enclosure link, unless a link with this URL already exists.
    private mutating func readMedia(_ attributes: FeedAttributes) {
        guard let url = attributes["url"].map({ resolve($0) }), !url.isEmpty else { return }
        var link = FeedLink(relation: "enclosure", href: url, type: attributes["type"])
        link.length = attributes["filesize"]
        change { if !$0.links.contains(where: { $0.href == url }), $0.links.count < 256 { $0.links.append(link) } }
    }

    private mutating func readIdentifier(_ key: String, _ value: String, _ attributes: FeedAttributes) {
        guard !value.isEmpty else { return }
        let isPermanent = key == "guid" && XMLCharacters.lowercased(attributes["ispermalink"] ?? "true") == "true"
        let isDirect = isDirect
        let id = key == "id" || isPermanent ? Reference.resolve(value, base: base) : value
        change { if isDirect || $0.id == nil { $0.id = id } }
        if isPermanent, context == .item, isDirect { item?.isIDLink = Reference.isSafe(id) }
    }

    /// Reads a child element of the open image. Returns `false` for other elements.
    mutating func endPart(ofImage key: String, _ value: String) -> Bool {
        let address = key == "url" || key == "link" ? resolve(value) : value
        switch key {
        case "url": image?.href = address
        case "title", "dc_title": image?.title = value
        case "link": image?.link = address
        case "description": image?.summary = value
        case "width": image?.width = Int(value)
        case "height": image?.height = Int(value)
        default: return false
        }
        return true
    }

    /// Reads an image whose URL is in an attribute.
    mutating func readImage(_ key: String, _ attributes: FeedAttributes) {
        if key == "itunes_link", attributes["rel"] != "image" { return }
        guard let address = attributes["href"] ?? attributes["url"] else { return }
        let href = resolve(address)
        var picture = FeedImage(href: href)
        picture.width = attributes["width"].flatMap { Int($0) }
        picture.height = attributes["height"].flatMap { Int($0) }
        change { if key != "media_thumbnail" || $0.image == nil { $0.image = picture } }
        guard key == "media_thumbnail", !href.isEmpty else { return }
        let thumbnail = FeedThumbnail(
            href: href, width: picture.width, height: picture.height, time: attributes["time"])
        guard keep(href.utf8.count + 64) else { return }
        changeMedia { if $0.thumbnails.count < 64 { $0.thumbnails.append(thumbnail) } }
    }

    /// Reads a Media RSS element with a person or organization.
    mutating func readCredit(_ value: String, _ attributes: FeedAttributes) {
        guard !value.isEmpty, value.utf8.count <= 1024 else { return }
        let role = attributes["role"].map { XMLCharacters.lowercased($0) }
        let credit = FeedCredit(name: value, role: role, scheme: attributes["scheme"] ?? "urn:ebu")
        changeMedia { if $0.credits.count < 64 { $0.credits.append(credit) } }
    }

    private mutating func changeMedia(_ body: (inout FeedMedia) -> Void) {
        switch context {
        case .feed: body(&feed.media)
        case .item: body(&item!.media)
        case .source: body(&source!.media)
        }
    }

    /// Reads a category element. Returns `false` for other elements.
    @discardableResult
    mutating func readCategory(_ key: String, _ value: String, _ attributes: FeedAttributes) -> Bool {
        switch key {
        case "category", "dc_subject":
            let scheme = attributes["scheme"] ?? attributes["domain"]
            append(FeedCategory(term: attributes["term"] ?? value, scheme: scheme, label: attributes["label"]))
        case "media_category":
            let scheme = attributes["scheme"] ?? "http://search.yahoo.com/mrss/category_schema"
            append(FeedCategory(term: value, scheme: scheme, label: attributes["label"]))
        case "itunes_category": append(FeedCategory(term: value, scheme: "http://www.itunes.com/"))
        case "itunes_keywords", "media_keywords", "keywords", "tags":
            let scheme = key == "itunes_keywords" ? "http://www.itunes.com/" : nil
            let words = value.utf8.split(separator: 0x2C, maxSplits: 64).prefix(64)
            guard spend(words.count) else { return true }
            for word in words {
                append(FeedCategory(term: XMLCharacters.trimmed(String(Substring(word))), scheme: scheme))
            }
        default: return false
        }
        return true
    }

    private mutating func append(_ category: FeedCategory) {
        guard !category.term.isEmpty || category.label != nil else { return }
        change { if $0.categories.count < 128, !$0.categories.contains(category) { $0.categories.append(category) } }
    }
}
