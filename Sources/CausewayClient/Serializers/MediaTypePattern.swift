/// A set of media types, such as `application/json`, `image/*`, or `*/*+xml` for every type with the suffix (RFC 6839).
struct MediaTypePattern: Sendable {
    private enum Kind: Sendable {
        case all
        case type(String)
        case suffix(String)
        case exact(String)
    }

    private let kind: Kind

    init(_ text: String) {
        let text = text.lowercased()
        kind =
            if text == "*/*" { .all } else if text.hasPrefix("*/*+") {
                .suffix(String(text.dropFirst(3)))
            } else if text.hasSuffix("/*") { .type(String(text.dropLast())) } else { .exact(text) }
    }

    /// Returns whether a media type in lower case belongs to the set.
    func contains(_ mediaType: String) -> Bool {
        switch kind {
        case .all: true
        case .type(let prefix): mediaType.hasPrefix(prefix)
        case .suffix(let suffix): mediaType.hasSuffix(suffix)
        case .exact(let exact): mediaType == exact
        }
    }
}

/// The media types accepted by a serializer.
struct MediaTypeSet: Sendable {
    let names: [String]
    /// The `Accept` value (RFC 9110 §12.5.1). Types with a suffix (`*/*+suffix`) are left out, because the field cannot
    /// express them. If the set has no other types, this property is `nil`.
    let acceptField: String?
    private let patterns: [MediaTypePattern]

    /// JSON media types: the registered types, and the JavaScript types that some servers send instead.
    static let json = MediaTypeSet([
        "application/json", "*/*+json", "text/json", "text/javascript", "application/javascript",
    ])

    init(_ names: [String]) {
        self.names = names
        patterns = names.map { MediaTypePattern($0) }
        let types = names.filter { !$0.hasPrefix("*/*+") }
        acceptField = types.isEmpty ? nil : types.joined(separator: ", ")
    }

    /// Whether every type is accepted.
    var containsAll: Bool { patterns.isEmpty }

    /// Returns whether a `Content-Type` value is exactly one of the set's types.
    ///
    /// This is so for most responses. Their values then need no parsing.
    func names(_ field: String) -> Bool { names.contains(field) }

    /// Returns whether a media type in lower case belongs to the set.
    func contains(_ mediaType: String) -> Bool { patterns.contains { $0.contains(mediaType) } }
}
