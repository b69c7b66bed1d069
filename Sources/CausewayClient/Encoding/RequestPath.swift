/// A request's path relative to the client's base URL, with an optional query.
///
/// A literal is written as in a URL. Characters that a URL does not permit are encoded, and existing percent-encoding is kept. An
/// interpolated value is data: all its special characters are encoded, so it stays within one segment, or within one query value.
///
/// ```swift
/// let path: RequestPath = "users/\(name)/photos"     // name "a/b ?" gives users/a%2Fb%20%3F/photos
/// ```
///
/// An empty value in the path, and a segment `.` or `..`, would select another resource than intended. Such a request is not sent: it fails
/// with ``HTTPClientError/Code/invalidRequest``.
public struct RequestPath: ExpressibleByStringInterpolation, Hashable, Sendable, CustomStringConvertible {
    /// The percent-encoded path, without query.
    let path: String
    /// The percent-encoded query; `nil` if there is none.
    let query: String?
    /// The reason why the path must not be sent; `nil` if it may be sent.
    let mistake: String?

    /// Creates a path from run-time text. Only `/` keeps its meaning; all other special characters are encoded.
    public init(text: String) {
        // Split at the byte `/`, not at the character: a slash and a combining mark after it are one character, which
        // is not equal to `/`.
        let segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        path = segments.map { PercentEncoding.encoded(Substring($0), for: .value) }.joined(separator: "/")
        query = nil
        mistake = Self.mistake(in: path, hasEmptyValue: false)
    }

    /// Creates a path from a literal.
    public init(stringLiteral literal: String) {
        var parts = StringInterpolation(literalCapacity: literal.utf8.count, interpolationCount: 0)
        parts.appendLiteral(literal)
        self.init(stringInterpolation: parts)
    }

    /// Creates a path from a literal with values.
    public init(stringInterpolation parts: StringInterpolation) {
        path = parts.path
        query = parts.query
        mistake = Self.mistake(in: parts.path, hasEmptyValue: parts.hasEmptyValue)
    }

    /// The encoded path and query.
    public var description: String { query.map { "\(path)?\($0)" } ?? path }

    private static func mistake(in path: String, hasEmptyValue: Bool) -> String? {
        if hasEmptyValue { return "a value in the path is empty" }
        var rest = path.utf8[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "/")) {
            if isDots(rest[..<end]) { return dotsMistake }
            rest = rest[rest.index(after: end)...]
        }
        return isDots(rest) ? dotsMistake : nil
    }

    private static let dotsMistake = "the path has a segment . or .."

    /// Returns whether a segment is `.` or `..`. A URL parser treats an encoded dot as a dot (WHATWG URL §4.4).
    private static func isDots(_ segment: Substring.UTF8View) -> Bool {
        var (rest, count) = (segment, 0)
        while let byte = rest.first {
            if byte == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if rest.starts(with: "%2e".utf8) || rest.starts(with: "%2E".utf8) {
                rest = rest.dropFirst(3)
            } else {
                return false
            }
            count += 1
        }
        return count == 1 || count == 2
    }

    /// Collects the literal parts and the interpolated values of a path literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var path = ""
        var query: String?
        var hasEmptyValue = false

        /// Creates an empty interpolation. Both numbers are compiler hints.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends a piece of the literal.
        public mutating func appendLiteral(_ literal: String) {
            if query != nil {
                query?.append(PercentEncoding.encoded(literal, for: .query, keepsTriplets: true))
            } else if let mark = literal.utf8.firstIndex(of: UInt8(ascii: "?")) {
                path += PercentEncoding.encoded(literal[..<mark], for: .path, keepsTriplets: true)
                query = PercentEncoding.encoded(
                    literal[literal.utf8.index(after: mark)...], for: .query, keepsTriplets: true)
            } else {
                path += PercentEncoding.encoded(literal, for: .path, keepsTriplets: true)
            }
        }

        /// Appends a value, with all its special characters encoded.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let text = value.description
            if query == nil {
                if text.isEmpty { hasEmptyValue = true }
                path += PercentEncoding.encoded(text, for: .value)
            } else {
                query?.append(PercentEncoding.encoded(text, for: .value))
            }
        }
    }
}
