/// Proxies selected by a PAC script, such as `PROXY proxy.example:8080; SOCKS5 192.0.2.1; DIRECT`.
///
/// Malformed entries and entries of unsupported kinds, such as `SOCKS4`, are ignored. `SOCKS` means SOCKS 5, the only supported version. As
/// in browsers, an empty result means a direct connection. If all entries are unusable, the result does not mean a direct connection,
/// because the script did not request one.
package struct PACResult: Equatable, Sendable {
    package enum Entry: Equatable, Sendable {
        case direct
        case proxy(ProxyAddress)
    }

    /// The maximum number of entries; further entries count as unusable.
    package static let entryLimit = 16

    /// The usable entries, best first.
    package private(set) var entries: [Entry] = []
    /// The unusable entries as written, at most ``entryLimit``.
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
        // Accept only a host and a port: a script must not add a user name, a password or a path.
        guard !parts[1].contains(where: { "/?#@%".contains($0) }) else { return nil }
        return (try? ProxyAddress("\(scheme)://\(parts[1])")).map { .proxy($0) }
    }
}
