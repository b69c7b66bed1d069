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

    /// The maximum number of usable entries to keep from a script's result. Further entries count as unusable.
    package static let entryLimit = 16

    /// The usable entries, best first.
    package private(set) var entries: [Entry] = []
    /// The unusable entries as written, at most ``entryLimit``.
    package private(set) var unusable: [String] = []

    package init(_ text: String) {
        // Split the text at Unicode scalars, not at characters. In Swift, a delimiter and a combining mark after it
        // form one character, which is not equal to the delimiter.
        let results = text.unicodeScalars.split(separator: ";").map { part in
            part.split(whereSeparator: \.properties.isWhitespace).map { String($0) }
        }.filter { !$0.isEmpty }
        if results.isEmpty { entries = [.direct] }
        for parts in results {
            if let entry = Self.entry(parts), entries.count < Self.entryLimit {
                if !entries.contains(entry) { entries.append(entry) }
            } else if unusable.count < Self.entryLimit {
                unusable.append(parts.joined(separator: " "))
            }
        }
    }

    private static func entry(_ parts: [String]) -> Entry? {
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
        // The text may contain only a host and a port. A proxy script must not supply a user name, a password or a
        // path.
        guard !parts[1].utf8.contains(where: "/?#@%".utf8.contains) else { return nil }
        return (try? ProxyAddress("\(scheme)://\(parts[1])")).map { .proxy($0) }
    }
}
