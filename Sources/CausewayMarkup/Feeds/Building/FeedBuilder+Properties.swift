extension FeedBuilder {
    private static let podcastPrefix = Array("itunes_".utf8)

    /// Reads a podcast property. For fixed values such as `yes`, the spelling must match exactly, as podcast
    /// directories require.
    mutating func readPodcast(_ key: String, _ text: [UInt8]) -> Bool {
        guard key.utf8.starts(with: Self.podcastPrefix) else { return false }
        let raw = String(decoding: text, as: UTF8.self)
        let value = XMLCharacters.trimmed(raw)
        switch key {
        case "itunes_block": change { $0.podcast.isBlocked = raw == "yes" || raw == "Yes" }
        case "itunes_explicit":
            let isExplicit = ["yes": true, "true": true, "no": false, "false": false, "clean": false][raw]
            change { $0.podcast.isExplicit = isExplicit }
        case "itunes_duration": change { $0.podcast.duration = value }
        case "itunes_episode": change { $0.podcast.episode = value }
        case "itunes_season": change { $0.podcast.season = value }
        case "itunes_type", "itunes_episodetype": change { $0.podcast.type = value }
        default: return false
        }
        return true
    }

    /// Reads an element that states the open item's language. Returns `false` if the element is of another kind.
    mutating func readItemProperty(_ key: String, _ value: String) -> Bool {
        guard key == "language" || key == "dc_language" else { return false }
        if !value.isEmpty, value.utf8.count <= Self.languageByteCount { item?.language = value }
        return true
    }

    /// Reads a feed property. Returns `false` for other elements.
    mutating func readFeedProperty(_ key: String, _ value: String, _ attributes: FeedAttributes) -> Bool {
        guard context != .item else { return false }
        switch key {
        case "language", "dc_language": if !value.isEmpty { changeFeed { $0.language = value } }
        case "generator":
            let link = (attributes["uri"] ?? attributes["url"]).map { resolve($0) }
            let generator = FeedGenerator(name: value.isEmpty ? nil : value, link: link, version: attributes["version"])
            changeFeed { $0.generator = generator }
        case "admin_generatoragent":
            let link = attributes["rdf_resource"].map { resolve($0) }
            changeFeed { if $0.generator == nil { $0.generator = FeedGenerator(link: link) } }
        case "docs":
            let address = resolve(value)
            changeFeed { $0.services.documentation = address }
        case "icon":
            let address = resolve(value)
            changeFeed { $0.services.icon = address }
        case "logo":
            let address = resolve(value)
            changeFeed { $0.services.logo = address }
        case "newlocation", "itunes_new-feed-url":
            let address = resolve(value)
            changeFeed { $0.newLocation = address }
        default: return readSchedule(key, value)
        }
        return true
    }

    private mutating func readSchedule(_ key: String, _ value: String) -> Bool {
        let number = Int(value)
        switch key {
        case "ttl": if let number, (0...525_600).contains(number) { feed.schedule.minutesToLive = number }
        // Midnight can be written as hour 24 in RSS 0.91, so treat 24 as 0.
        case "hour":
            if parent == "skiphours", let number, (0...24).contains(number) {
                feed.schedule.skippedHours.insert(number % 24)
            }
        case "day":
            let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
            if parent == "skipdays", let day = days.firstIndex(of: XMLCharacters.lowercased(String(value.prefix(3)))) {
                feed.schedule.skippedDays.insert(day + 1)
            }
        case "sy_updateperiod":
            let periods = ["hourly": 60, "daily": 1440, "weekly": 10_080, "monthly": 43_200, "yearly": 525_600]
            feed.schedule.periodInMinutes = periods[XMLCharacters.lowercased(value)]
        case "sy_updatefrequency":
            if let number, number > 0, let period = feed.schedule.periodInMinutes {
                feed.schedule.periodInMinutes = max(1, period / number)
            }
        default: return false
        }
        return true
    }
}
