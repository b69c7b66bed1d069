extension FeedBuilder {
    /// Ends an element that is not a text construct.
    mutating func end(_ frame: Frame) {
        let key = frame.key
        let roles = frame.roles
        if roles.contains(.container), endContainer(key, frame) { return }
        let value = String(decoding: XMLCharacters.trimmed(frame.text[...]), as: UTF8.self)
        if parts.contains(.person), endPart(ofPerson: key, value) { return }
        if key == "itunes_image" || key == "itunes_link" || key == "media_thumbnail" {
            return readImage(key, frame.attributes)
        }
        if parts.contains(.image), endPart(ofImage: key, value) { return }
        if frame.surroundings.isInTextInput {
            if feed.services.textInput.count < 16 {
                feed.services.textInput[key] = key == "link" ? resolve(value) : value
            }
            return
        }
        guard keep(value.utf8.count + Self.elementByteCount) else { return }
        if roles.contains(.date), readDate(key, value) { return }
        if roles.contains(.link), readLink(key, value, frame) { return }
        if roles.contains(.category), readCategory(key, value, frame.attributes) { return }
        if roles.contains(.podcast), readPodcast(key, frame.text) { return }
        if key == "media_credit" { return readCredit(value, frame.attributes) }
        if roles.contains(.property), context == .item { if readItemProperty(key, value) { return } }
        if roles.contains(.property), readFeedProperty(key, value, frame.attributes) { return }
        if roles.contains(.place), readPlace(key, value) { return }
        readExtension(key, value, frame.attributes)
    }

    private mutating func endContainer(_ key: String, _ frame: Frame) -> Bool {
        switch key {
        case "item", "entry", "product": if !parts.contains(.source) { endItem() }
        case "source" where parts.contains(.source):
            item?.source = source
            source = nil
            parts.remove(.source)
        case "source": return readSource(frame)
        case "image":
            if spend(4), let image {
                change { if $0.image == nil || frame.key == "image" && image.href != nil { $0.image = image } }
            }
            image = nil
            parts.remove(.image)
        case "author", "managingeditor", "dc_creator", "dc_author", "itunes_author", "contributor", "dc_contributor",
            "publisher",
            "webmaster", "dc_publisher", "itunes_owner":
            endPerson(key, frame)
        case "psc_chapters": if item?.chapters.isEmpty == false { progress.hasChapters = true }
        case "channel", "feed", "rss", "rdf_rdf", "rdf_channel", "items", "rdf_seq", "rdf_li", "textinput", "skiphours",
            "skipdays",
            "media_group", "redirect", "psc_chapter":
            break
        default: return false
        }
        return true
    }

    /// Ends the open item.
    mutating func endItem() {
        guard var finished = item else { return }
        item = nil
        source = nil
        parts.subtract([.item, .source])
        progress = Progress()
        if finished.isIDLink {
            finished.isIDLink = !finished.core.links.contains { $0.relation == "alternate" }
            if finished.isIDLink, let id = finished.core.id {
                finished.core.links.append(FeedLink(href: id, type: "text/html"))
            }
        }
        guard budget.keptByteCount <= limits.totalByteCount else {
            return exceed("more than \(limits.totalByteCount) bytes of text")
        }
        guard feed.items.count < limits.items else { return exceed("more than \(limits.items) items") }
        feed.items.append(finished)
    }

    private mutating func readSource(_ frame: Frame) -> Bool {
        guard parts.contains(.item), item?.source == nil else { return true }
        var origin = Feed()
        let value = String(decoding: XMLCharacters.trimmed(frame.text[...]), as: UTF8.self)
        if !value.isEmpty { origin.core.title = FeedText(value, language: frame.language, base: frame.base) }
        if let url = frame.attributes["url"] {
            origin.core.links.append(FeedLink(href: resolve(url), type: "text/html"))
        }
        item?.source = origin
        return true
    }

    private mutating func readDate(_ key: String, _ value: String) -> Bool {
        let path: WritableKeyPath<FeedDates, FeedDate?>
        switch key {
        case "published", "pubdate", "issued", "dcterms_issued": path = \.published
        case "updated", "modified", "dc_date", "lastbuilddate", "dcterms_modified", "date": path = \.updated
        case "created", "dcterms_created": path = \.created
        case "expirationdate": path = \.expired
        case "dcterms_valid":
            readValidity(value)
            return true
        default: return false
        }
        guard !value.isEmpty, spend(value.utf8.count / 8) else { return true }
        let isDirect = isDirect
        change { if isDirect || $0.dates[keyPath: path] == nil { $0.dates[keyPath: path] = FeedDate(value) } }
        return true
    }

    /// Reads a validity period in the form "start=...;end=...;scheme=...".
    private mutating func readValidity(_ value: String) {
        for part in value.utf8.split(separator: 0x3B, maxSplits: 8).prefix(8) {
            let pair = part.split(separator: 0x3D, maxSplits: 1).map { XMLCharacters.trimmed(String(Substring($0))) }
            guard pair.count == 2, spend(4) else { continue }
            let date = FeedDate(pair[1])
            switch pair[0] {
            case "start": change { $0.dates.validFrom = date }
            case "end": change { $0.dates.validUntil = date }
            default: break
            }
        }
    }

    private mutating func readPlace(_ key: String, _ value: String) -> Bool {
        // Charge the coordinates to the budget for costly content, because parsing them takes longer than reading their
        // bytes.
        guard spend(value.utf8.count / 2) else { return true }
        if let place = progress.shape.end(key, value) { item?.place = place }
        return true
    }

    /// The number of bytes that each stored element counts in addition to its text.
    private static let elementByteCount = 48

    private mutating func readExtension(_ key: String, _ value: String, _ attributes: FeedAttributes) {
        let reference = attributes["url"] ?? attributes["href"] ?? attributes["rdf_resource"] ?? ""
        guard !value.isEmpty || Reference.isSafe(reference) else { return }
        let text = value.isEmpty ? reference : value
        guard !text.isEmpty, text.utf8.count <= 4096 else { return }
        let isDirect = isDirect
        change {
            if $0.extensions[key] == nil && $0.extensions.count < 64 || isDirect && $0.extensions[key] != nil {
                $0.extensions[key] = text
            }
        }
    }
}
