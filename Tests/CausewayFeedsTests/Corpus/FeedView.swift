import CausewayMarkup
import Foundation

/// Converts a feed to the property names that the test corpus uses.
enum FeedView {
    static func names(_ feed: Feed) -> [String: ExpectedValue] {
        [
            "feed": .map(map(feed)), "entries": .list(feed.items.map { .map(map($0)) }),
            "bozo": .boolean(!feed.isWellFormed),
            "version": .string(version(feed.format)), "encoding": string(feed.encoding) ?? .none,
        ]
    }

    private static func version(_ format: FeedFormat) -> String {
        switch format {
        case .rss091: "rss091u"
        case .rss091Netscape: "rss091n"
        default: format.rawValue
        }
    }

    private static func string(_ text: String?) -> ExpectedValue? { text.map { .string($0) } }

    private static func members(_ pairs: KeyValuePairs<String, String?>) -> [String: ExpectedValue] {
        var result: [String: ExpectedValue] = [:]
        for (key, value) in pairs { if let value { result[key] = .string(value) } }
        return result
    }

    private static func add(_ text: FeedText?, _ names: String..., to map: inout [String: ExpectedValue]) {
        guard let text else { return }
        for name in names {
            map[name] = .string(text.value)
            map[name + "_detail"] = detail(text)
        }
    }

    private static func detail(_ text: FeedText) -> ExpectedValue {
        var map = members(["value": text.value, "type": text.type, "base": text.base ?? "", "src": text.source])
        map["language"] = string(text.language) ?? ExpectedValue.none
        return .map(map)
    }

    private static func person(_ person: FeedPerson) -> ExpectedValue {
        .map(members(["name": person.name, "email": person.email, "href": person.link]))
    }

    private static func link(_ link: FeedLink) -> ExpectedValue {
        .map(
            members([
                "rel": link.relation, "href": link.href, "type": link.type, "title": link.title,
                "hreflang": link.language,
                "length": link.length,
            ]))
    }

    private static func add(_ date: FeedDate?, _ name: String, to map: inout [String: ExpectedValue]) {
        guard let date else { return }
        map[name] = .string(date.text)
        guard let moment = date.date else { return }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: moment)
        let day = calendar.ordinality(of: .day, in: .year, for: moment) ?? 0
        // The test corpus numbers the weekdays from Monday, which is 0. Foundation numbers them from Sunday, which is
        // 1.
        let numbers = [
            parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second,
            parts.weekday.map { ($0 + 5) % 7 }, day, 0,
        ]
        map[name + "_parsed"] = .list(numbers.map { .number(Double($0 ?? -1)) })
    }

    private static func map(_ core: FeedCore) -> [String: ExpectedValue] {
        var map = core.extensions.mapValues { ExpectedValue.string($0) }
        if let player = core.extensions["media_player"] { map["media_player"] = .map(["href": .string(player)]) }
        add(core.title, "title", to: &map)
        add(core.subtitle, "subtitle", "tagline", to: &map)
        add(core.rights, "rights", "copyright", to: &map)
        map["id"] = string(core.id)
        map["guid"] = map["id"]
        map["link"] = string(core.link)
        map["links"] = .list(core.links.map(link))
        map["enclosures"] = .list(core.enclosures.map(link))
        map["author"] = string(core.author)
        map["author_detail"] = core.people.authors.first.map(person)
        map["authors"] = .list(core.people.authors.map(person))
        map["contributors"] = .list(core.people.contributors.map(person))
        map["publisher"] = string(core.people.publisher?.line)
        map["publisher_detail"] = core.people.publisher.map(person)
        map["tags"] = .list(
            core.categories.map { .map(members(["term": $0.term, "scheme": $0.scheme, "label": $0.label])) })
        map["category"] = string(core.categories.first?.term)
        add(core.dates.published, "published", to: &map)
        add(core.dates.updated, "updated", to: &map)
        add(core.dates.created, "created", to: &map)
        add(core.dates.expired, "expired", to: &map)
        add(core.dates.validFrom, "validity_start", to: &map)
        add(core.dates.validUntil, "validity_end", to: &map)
        if let image = core.image {
            var members = members([
                "href": image.href, "title": image.title, "link": image.link, "description": image.summary,
            ])
            members["width"] = image.width.map { .number(Double($0)) }
            members["height"] = image.height.map { .number(Double($0)) }
            map["image"] = .map(members)
        }
        map["itunes_block"] = core.podcast.isBlocked.map { .number($0 ? 1 : 0) }
        map["itunes_explicit"] = core.podcast.isExplicit.map { .boolean($0) } ?? ExpectedValue.none
        map["itunes_duration"] = string(core.podcast.duration)
        return map
    }

    private static func map(_ feed: Feed) -> [String: ExpectedValue] {
        var map = map(feed.core)
        add(feed.subtitle ?? feed.summary, "subtitle", "tagline", to: &map)
        add(feed.summary ?? feed.subtitle, "description", "summary", to: &map)
        add(feed.information, "info", to: &map)
        map["language"] = string(feed.language)
        map["generator"] = string(feed.generator?.name)
        if let generator = feed.generator {
            map["generator_detail"] = .map(
                members(["name": generator.name, "href": generator.link, "version": generator.version]))
        }
        map["docs"] = string(feed.services.documentation)
        map["icon"] = string(feed.services.icon)
        map["logo"] = string(feed.services.logo)
        map["cloud"] = .map(feed.services.cloud.mapValues { .string($0) })
        map["textinput"] = .map(feed.services.textInput.mapValues { .string($0) })
        map["newlocation"] = string(feed.newLocation)
        map["ttl"] = feed.schedule.minutesToLive.map { .string(String($0)) }
        return map
    }

    private static func map(_ item: FeedItem) -> [String: ExpectedValue] {
        var map = map(item.core)
        add(item.summary ?? item.contents.first, "summary", "description", to: &map)
        map["content"] = .list(item.contents.map(detail))
        map["comments"] = string(item.comments)
        map["guidislink"] = .boolean(item.isIDLink)
        map["source"] = item.source.map { .map(self.map($0)) }
        if let place = item.place {
            map["where"] = .map(["type": .string(place.shape.rawValue), "coordinates": coordinates(place)])
        }
        if item.extensions["georss_point"] != nil || item.place == nil { map["where"] = map["where"] ?? .map([:]) }
        map["psc_chapters"] = .map([
            "chapters": .list(
                item.chapters.map { chapter in
                    var members = members([
                        "start": chapter.start, "title": chapter.title, "href": chapter.link, "image": chapter.image,
                    ])
                    members["start_parsed"] = chapter.offset.map { .number($0 / .seconds(1)) }
                    return .map(members)
                })
        ])
        return map
    }

    private static func coordinates(_ place: FeedPlace) -> ExpectedValue {
        let positions = place.positions.map { position in
            ExpectedValue.list(
                ([position.longitude, position.latitude] + [position.altitude].compactMap(\.self)).map { .number($0) })
        }
        switch place.shape {
        case .point: return positions[0]
        case .line, .box: return .list(positions)
        case .polygon: return .list([.list(positions)])
        }
    }
}
