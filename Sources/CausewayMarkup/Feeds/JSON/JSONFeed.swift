/// Converts a JSON Feed 1 or 1.1 document to a feed.
struct JSONFeed {
    private let source: FeedSource
    private let limits: FeedLimits
    private var budget: Int

    init(source: FeedSource, limits: FeedLimits) {
        self.source = source
        self.limits = limits
        budget = limits.markup
    }

    /// Returns the feed; `nil` if the document is not a JSON Feed.
    mutating func feed(_ document: JSONValue) -> Feed? {
        let version = document["version"]?.text ?? ""
        guard version.contains("jsonfeed.org/version/") || document["items"] != nil else { return nil }
        var feed = Feed()
        feed.format = version.hasSuffix("1.1") ? .json11 : .json1
        feed.title = document["title"]?.text.map { FeedText($0) }
        feed.summary = document["description"]?.text.map { FeedText($0) }
        feed.subtitle = feed.summary
        feed.language = document["language"]?.text ?? source.language
        if let page = reference(document["home_page_url"]) {
            feed.links.append(FeedLink(href: page, type: "text/html"))
        }
        if let own = reference(document["feed_url"]) {
            feed.links.append(FeedLink(relation: "self", href: own, type: "application/feed+json"))
            feed.id = own
        }
        if let next = reference(document["next_url"]) {
            feed.links.append(FeedLink(relation: "next", href: next, type: "application/feed+json"))
        }
        for hub in document["hubs"]?.elements.prefix(16) ?? [] {
            if let url = reference(hub["url"]) { feed.links.append(FeedLink(relation: "hub", href: url)) }
        }
        if let icon = reference(document["icon"]) { feed.image = FeedImage(href: icon) }
        feed.services.icon = reference(document["favicon"])
        feed.people.authors = authors(document)
        for element in document["items"]?.elements.prefix(limits.items) ?? [] {
            feed.items.append(item(element, of: feed))
        }
        return feed
    }

    private func reference(_ value: JSONValue?) -> String? {
        guard let text = value?.text, !text.isEmpty else { return nil }
        return Reference.isSafe(text) ? Reference.resolve(text, base: source.base) : nil
    }

    private func authors(_ value: JSONValue) -> [FeedPerson] {
        let list = value["authors"]?.elements ?? [value["author"]].compactMap(\.self)
        return list.prefix(64).compactMap { author in
            let person = FeedPerson(name: author["name"]?.text, link: reference(author["url"]))
            return person == FeedPerson() ? nil : person
        }
    }

    private mutating func item(_ value: JSONValue, of feed: Feed) -> FeedItem {
        var item = FeedItem()
        item.id = value["id"]?.text
        item.title = value["title"]?.text.map { FeedText($0) }
        item.summary = value["summary"]?.text.map { FeedText($0) }
        if let page = reference(value["url"]) { item.links.append(FeedLink(href: page, type: "text/html")) }
        if let external = reference(value["external_url"]) {
            item.links.append(FeedLink(relation: "related", href: external, type: "text/html"))
        }
        item.language = value["language"]?.text.map { String(decoding: $0.utf8.prefix(64), as: UTF8.self) }
        let language = item.language ?? feed.language
        if let html = value["content_html"]?.text {
            let base = source.base ?? item.link
            item.contents.append(
                FeedText(
                    HTMLCleaner.clean(html, base: base, budget: &budget), type: "text/html", language: language,
                    base: base))
        }
        if let text = value["content_text"]?.text { item.contents.append(FeedText(text, language: language)) }
        item.dates.published = value["date_published"]?.text.map { FeedDate($0) }
        item.dates.updated = value["date_modified"]?.text.map { FeedDate($0) }
        item.people.authors = authors(value)
        item.categories =
            value["tags"]?.elements.prefix(128).compactMap { $0.text.map { FeedCategory(term: $0) } } ?? []
        if let image = reference(value["image"]) ?? reference(value["banner_image"]) {
            item.image = FeedImage(href: image)
        }
        for attachment in value["attachments"]?.elements.prefix(64) ?? [] {
            guard let url = reference(attachment["url"]) else { continue }
            var link = FeedLink(relation: "enclosure", href: url, type: attachment["mime_type"]?.text)
            link.title = attachment["title"]?.text
            link.length = attachment["size_in_bytes"]?.text
            item.links.append(link)
            if item.podcast.duration == nil { item.podcast.duration = attachment["duration_in_seconds"]?.text }
        }
        return item
    }
}
