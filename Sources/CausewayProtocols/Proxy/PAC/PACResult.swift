/// What a proxy script wants: `PROXY proxy.example:8080; SOCKS5 192.0.2.1; DIRECT`.
///
/// Entries of a kind that does not exist here, such as `SOCKS4`, and those that make no sense are passed over. `SOCKS` is taken for
/// SOCKS 5, for there is no other. An empty text means the direct way, as in browsers; a text of which nothing can be used does not:
/// going directly is for the script to say.
package struct PACResult: Equatable, Sendable {
    package enum Entry: Equatable, Sendable {
        case direct
        case proxy(ProxyAddress)
    }

    /// Entries beyond these are passed over.
    package static let entryLimit = 16

    /// Best first; empty where nothing can be used.
    package private(set) var entries: [Entry] = []
    /// The words of entries that cannot be used.
    package private(set) var unusable: [String] = []

    package init(_ text: String) {
        let words = text.split { $0 == ";" }.map { part in
            part.split { $0.isWhitespace }.joined(separator: " ")
        }.filter { !$0.isEmpty }
        if words.isEmpty { entries = [.direct] }
        for word in words {
            if let entry = Self.entry(word), entries.count < Self.entryLimit {
                if !entries.contains(entry) { entries.append(entry) }
            } else if unusable.count < Self.entryLimit {
                unusable.append(word)
            }
        }
    }

    private static func entry(_ word: String) -> Entry? {
        let parts = word.split(separator: " ")
        guard let kind = parts.first?.uppercased() else { return nil }
        if kind == "DIRECT" { return parts.count == 1 ? .direct : nil }
        guard parts.count == 2 else { return nil }
        let scheme: String
        switch kind {
        case "PROXY", "HTTP": scheme = "http"
        case "HTTPS": scheme = "https"
        case "SOCKS", "SOCKS5": scheme = "socks5"
        default: return nil
        }
        // A place and nothing else: no name and password that a script could smuggle in, no path.
        guard !parts[1].contains(where: { "/?#@%".contains($0) }) else { return nil }
        return (try? ProxyAddress("\(scheme)://\(parts[1])")).map { .proxy($0) }
    }
}
