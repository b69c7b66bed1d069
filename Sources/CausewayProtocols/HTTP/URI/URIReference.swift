internal import CausewayWire

/// A URI reference, split into its components (RFC 3986 §4.1).
///
/// Components keep their original spelling, except for the scheme, which is converted to lower case. Bytes that are not valid in a URI are
/// percent-encoded, because some servers send spaces and UTF-8 in `Location`.
package struct URIReference: Hashable, Sendable {
    package var scheme: String?
    package var authority: URIAuthority?
    package var path: String
    package var query: String?
    package var fragment: String?

    package init(
        scheme: String? = nil, authority: URIAuthority? = nil, path: String = "", query: String? = nil,
        fragment: String? = nil
    ) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// Parses a reference. Spaces and tabs at both ends are ignored.
    ///
    /// - Returns: `nil` for control characters, an invalid authority, or a colon in the first segment of a relative path (RFC 3986 §4.2).
    package init?(_ text: some StringProtocol) { self.init(bytes: Array(text.utf8)) }

    /// Parses a reference from bytes, by the same rules as ``init(_:)``.
    package init?(bytes: [UInt8]) {
        var rest = bytes[...]
        while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        guard !rest.contains(where: URIBytes.isControl) else { return nil }
        scheme = Self.takeScheme(&rest)
        if let hash = rest.firstIndex(of: 0x23) {
            fragment = PercentCoding.encoded(rest[(hash + 1)...], where: URIBytes.isContent)
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: 0x3F) {
            query = PercentCoding.encoded(rest[(mark + 1)...], where: URIBytes.isContent)
            rest = rest[..<mark]
        }
        if rest.starts(with: [0x2F, 0x2F]) {
            let end = rest.dropFirst(2).firstIndex(of: 0x2F) ?? rest.endIndex
            guard let parsed = URIAuthority(bytes: rest[(rest.startIndex + 2)..<end]) else { return nil }
            authority = parsed
            rest = rest[end...]
        }
        // A relative path must not have a colon in its first segment, because the segment could be mistaken for a scheme.
        if scheme == nil, authority == nil, rest.prefix(while: { $0 != 0x2F }).contains(0x3A) { return nil }
        path = PercentCoding.encoded(rest, where: URIBytes.isContent)
    }

    /// Removes a scheme with its colon from the front (RFC 3986 §3.1).
    private static func takeScheme(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let first = rest.first, URIBytes.isLetter(first), let colon = rest.firstIndex(of: 0x3A) else {
            return nil
        }
        let word = rest[..<colon]
        guard
            word.allSatisfy({
                URIBytes.isLetter($0) || URIBytes.isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
            })
        else { return nil }
        rest = rest[(colon + 1)...]
        return URIBytes.lowercased(String(decoding: word, as: UTF8.self))
    }

    /// The path and query for a request line (origin-form, RFC 9112 §3.2.1), without the fragment (RFC 9110 §7.1). An empty path is `/`.
    package var originForm: String {
        (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "")
    }
}

extension URIReference: CustomStringConvertible {
    /// The reference as text (RFC 3986 §5.3).
    package var description: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority.description }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }
}
