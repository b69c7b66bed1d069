package import CausewayWire

/// The NAT64 prefixes that routers advertise, until they expire (RFC 8781).
package struct AdvertisedPrefixes: Sendable {
    /// The maximum number of entries. Every host on a link can send advertisements, so the number must be limited.
    static let limit = 16

    private struct Entry: Sendable {
        var interfaceIndex: Int
        var prefix: TranslationPrefix
        var end: Duration
    }

    /// The entries in the order of their first advertisement.
    private var entries: [Entry] = []

    package init() {}

    /// Adds or updates a prefix. Returns whether the set of prefixes changed.
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

    /// Removes the prefixes of an interface.
    package mutating func forget(_ interfaceIndex: Int) {
        entries.removeAll { $0.interfaceIndex == interfaceIndex }
    }

    /// Returns the valid prefixes, each once.
    ///
    /// - Parameter interfaceIndex: The interface whose prefixes to return; `nil` for all.
    package func prefixes(over interfaceIndex: Int? = nil, at now: Duration) -> [TranslationPrefix] {
        var result: [TranslationPrefix] = []
        for entry in entries where entry.end > now && (interfaceIndex ?? entry.interfaceIndex) == entry.interfaceIndex {
            if !result.contains(entry.prefix) { result.append(entry.prefix) }
        }
        return result
    }
}
