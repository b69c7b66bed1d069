/// A URI reference as written in a document, split into its components without any change (RFC 3986 §3).
///
/// Unlike `URL`, accepts every text, because documents contain any text.
package struct Reference: Equatable, Sendable {
    private var scheme: Substring?
    private var authority: Substring?
    private var path: Substring
    private var query: Substring?
    private var fragment: Substring?

    /// Splits a text into components.
    package init(_ text: String) {
        var rest = Substring(text)
        if let mark = rest.utf8.firstIndex(of: 0x23) {
            fragment = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let mark = rest.utf8.firstIndex(of: 0x3F) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(of: 0x3A), Self.isScheme(rest[..<colon]) {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: [0x2F, 0x2F]) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: 0x2F) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// The scheme in lower case.
    package var schemeName: String? { scheme.map { XMLCharacters.lowercased(String($0)) } }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, XMLCharacters.isLetter(first) else { return false }
        return text.utf8.allSatisfy {
            XMLCharacters.isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
        }
    }

    /// Maximum length in bytes of a reference to resolve. RFC 9110 §4.1 recommends at least 8000 bytes for a URI.
    private static let maximumByteCount = 8192

    /// Resolves a reference against a base URL (RFC 3986 §5.2). Without a base, returns it unchanged.
    package static func resolve(_ text: String, base: String?) -> String {
        guard let base, !base.isEmpty, text.utf8.count <= maximumByteCount else { return text }
        guard !text.isEmpty else { return base }
        var target = Reference(text)
        // In "http:///host/", the authority is empty. Like browsers, treat this as "http://host/".
        if target.scheme != nil, target.authority?.isEmpty == true, target.schemeName != "file" {
            let rest = target.path.utf8.drop { $0 == 0x2F }
            return String(target.scheme ?? "") + "://" + String(Substring(rest)) + target.tail
        }
        guard target.scheme == nil else { return text }
        let parent = Reference(base)
        guard parent.authority != nil || parent.path.utf8.first == 0x2F else { return text }
        target.scheme = parent.scheme
        guard target.authority == nil else { return target.text }
        target.authority = parent.authority
        if target.path.isEmpty {
            target.path = parent.path
            if target.query == nil { target.query = parent.query }
        } else if target.path.utf8.first == 0x2F {
            target.path = Substring(removingDots(target.path))
        } else {
            let folder = parent.path.utf8.lastIndex(of: 0x2F).map { parent.path[...$0] } ?? "/"
            target.path = Substring(removingDots(folder + target.path))
        }
        return target.text
    }

    private var tail: String { (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "") }

    private var text: String { (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + tail }

    /// Removes "." and ".." segments from a path (RFC 3986 §5.2.4).
    private static func removingDots(_ path: Substring) -> String {
        var last: UInt8 = 0
        let hasDots = path.utf8.contains { byte in
            defer { last = byte }
            return byte == 0x2F && last == 0x2E
        }
        guard hasDots || path.utf8.last == 0x2E else { return String(path) }
        let bytes = Array(path.utf8)
        // The segments of the path that remain, each with its trailing slash.
        var kept: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x2F).map { $0 + 1 } ?? bytes.count
            let dots = bytes[start..<end].prefix { $0 == 0x2E }
            let isDots = dots.endIndex == end || bytes[dots.endIndex] == 0x2F
            switch dots.count {
            case 1 where isDots: break
            case 2 where isDots: removeSegment(&kept)
            default: kept += bytes[start..<end]
            }
            start = end
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// Removes a path's final segment. Keeps the leading slash.
    private static func removeSegment(_ path: inout [UInt8]) {
        guard let last = path.lastIndex(of: 0x2F) else { return path.removeAll() }
        let parent = path[..<last].lastIndex(of: 0x2F) ?? last
        path.removeLast(path.count - parent - 1)
    }

    /// URL schemes that are safe in links: following the link does not execute content from the document.
    private static let safeSchemes: Set<String> = [
        "http", "https", "ftp", "ftps", "sftp", "mailto", "news", "nntp", "gopher", "irc", "ircs", "magnet", "tel",
        "callto", "sip", "sips",
        "xmpp", "file", "git", "imap", "itms", "mms", "rtsp", "ssh", "svn", "svn+ssh", "telnet", "urn", "tag",
        "cvs", "rsync", "wais",
        "facetime", "skype", "gtalk", "prospero", "hdl", "aim", "msnim", "ymsg", "smb", "snews", "shttp", "rtspu",
        "h323",
    ]

    /// Returns a reference without the characters that URL parsers remove (WHATWG URL §4.4): control characters and
    /// spaces at both ends, tabs and line breaks everywhere.
    package static func stripped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else {
            return ""
        }
        let kept = bytes[first...last].filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return kept.count == bytes.count ? text : String(decoding: kept, as: UTF8.self)
    }

    /// Returns whether a reference is safe in a link: it has no scheme, or `safeSchemes` contains its scheme.
    /// "javascript" is not in this list. After "feed:", which precedes whole URLs, the next scheme is judged. A colon
    /// after "?" or "#" also makes a reference unsafe, unless a slash precedes the colon.
    ///
    /// - Parameter text: The reference, with character references already decoded: "&" is like any other character.
    package static func isSafe(_ text: String) -> Bool {
        var scheme: [UInt8] = []
        var mayBeScheme = true
        // Skip spaces and control characters, because browsers remove them from URLs.
        for byte in text.utf8 where byte > 0x20 && byte != 0x7F {
            switch byte {
            case 0x2F: return true
            case 0x3A:
                let name = String(decoding: scheme, as: UTF8.self)
                guard mayBeScheme, isScheme(name[...]) else { return false }
                let lowered = XMLCharacters.lowercased(name)
                guard lowered == "feed" else { return safeSchemes.contains(lowered) }
                scheme = []
            case 0x23, 0x3F: mayBeScheme = false
            default: if scheme.count <= schemeByteCount { scheme.append(byte) }
            }
        }
        return true
    }

    /// The longest known scheme's length in bytes.
    private static let schemeByteCount = 16
}
