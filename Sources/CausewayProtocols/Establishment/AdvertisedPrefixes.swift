package import CausewayWire

/// NAT64 prefixes from router advertisements, until they expire (RFC 8781).
package struct AdvertisedPrefixes: Sendable {
    /// The maximum number of entries. The number is limited because any host on the link can send router
    /// advertisements.
    static let limit = 16

    private struct Entry: Sendable {
        var interfaceIndex: Int
        var prefix: TranslationPrefix
        var end: Duration
    }

    /// The entries. The oldest advertisement comes first; updates do not change the order.
    private var entries: [Entry] = []

    package init() {}

    /// Adds or updates a prefix, or removes it if the advertised lifetime is 0. Returns whether it was added or
    /// removed.
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

    /// Removes an interface's prefixes.
    package mutating func forget(_ interfaceIndex: Int) {
        entries.removeAll { $0.interfaceIndex == interfaceIndex }
    }

    /// Returns the valid prefixes without duplicates.
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
