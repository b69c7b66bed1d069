package import CausewayWire

/// What routers said about translators, for as long as they said it holds (RFC 8781).
package struct AdvertisedPrefixes: Sendable {
    /// Anybody on a link can send advertisements.
    static let limit = 16

    private struct Entry: Sendable {
        var interfaceIndex: Int
        var prefix: TranslationPrefix
        var end: Duration
    }

    /// In the order in which they were heard first.
    private var entries: [Entry] = []

    package init() {}

    /// Notes what a router said. Returns whether that is news.
    package mutating func heard(_ word: NetlinkTranslatorPrefix, at now: Duration) -> Bool {
        guard let prefix = TranslationPrefix(word.prefix, length: word.length) else { return false }
        entries.removeAll { $0.end <= now }
        let place = entries.firstIndex { $0.interfaceIndex == word.interfaceIndex && $0.prefix == prefix }
        let end = now + .seconds(word.lifetime)
        switch (place, word.lifetime > 0) {
        case (let place?, true):
            entries[place].end = end
            return false
        case (let place?, false):
            entries.remove(at: place)
            return true
        case (nil, true):
            guard entries.count < Self.limit else { return false }
            entries.append(Entry(interfaceIndex: word.interfaceIndex, prefix: prefix, end: end))
            return true
        case (nil, false): return false
        }
    }

    /// Forgets what was heard on an interface.
    package mutating func forget(_ interfaceIndex: Int) {
        entries.removeAll { $0.interfaceIndex == interfaceIndex }
    }

    /// What holds, each once.
    ///
    /// - Parameter interfaceIndex: The only interface that counts; `nil` for all.
    package func prefixes(over interfaceIndex: Int? = nil, at now: Duration) -> [TranslationPrefix] {
        var result: [TranslationPrefix] = []
        for entry in entries where entry.end > now && (interfaceIndex ?? entry.interfaceIndex) == entry.interfaceIndex {
            if !result.contains(entry.prefix) { result.append(entry.prefix) }
        }
        return result
    }
}
