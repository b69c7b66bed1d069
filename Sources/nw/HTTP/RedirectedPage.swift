import CausewayHTTPServer
import CausewayProtocols
import CausewayTypes
import CausewayWire

/// Recognizes a web page, such as a login form, to which a server has redirected a request for something else.
///
/// Such a page arrives with a success status. If it were stored under the requested name, such as `data.json`, it could
/// be mistaken for the requested content.
enum RedirectedPage {
    private static let pageTypes: Set<String> = ["text/html", "application/xhtml+xml"]
    /// File name extensions for non-HTML content that `MediaTypes` does not know.
    private static let otherEndings: Set<String> = [
        "7z", "apk", "bin", "bz2", "deb", "dmg", "doc", "docx", "exe", "flac", "img", "iso", "jar", "msi", "ods", "odt",
        "ppt", "pptx", "rar", "rpm", "sig", "sql", "tgz", "toml", "whl", "xls", "xlsx", "xz", "yaml", "yml",
    ]

    /// - Parameters:
    ///   - head: The final response.
    ///   - start: The user's URL.
    ///   - end: The final response's URL.
    ///   - accept: The request's `Accept` field, if the user set it.
    ///   - name: The requested file name.
    /// - Returns: The failure; `nil` unless a redirect led to a web page although `accept` or `name` indicates another
    ///   type.
    static func failure(
        _ head: HTTPResponseHead, from start: URIReference, to end: URIReference, accept: String?, name: String?
    ) -> HTTPCommandFailure? {
        guard start != end, (200..<300).contains(head.status),
            let type = head.fields.firstValue(of: "Content-Type").flatMap({ MediaType(parsing: $0) }),
            pageTypes.contains("\(type.type)/\(type.subtype)")
        else { return nil }
        let expected = accept.map { excludes($0, type) ? $0 : nil } ?? name.flatMap(otherType)
        guard let expected else { return nil }
        return HTTPCommandFailure(
            .other, "redirected to a web page, perhaps a form to log in: \(end.description) is HTML, not \(expected)")
    }

    /// Returns `true` if no media range in the `Accept` field includes `type`.
    private static func excludes(_ accept: String, _ type: MediaType) -> Bool {
        !accept.split(separator: ",").contains { item in
            guard let range = MediaType(parsing: String(item)) else { return false }
            return range.type == "*" || range.type == type.type && [type.subtype, "*"].contains(range.subtype)
        }
    }

    /// The media type or extension that a file name indicates; `nil` for a web page or if the type is unknown.
    private static func otherType(_ name: String) -> String? {
        let known = MediaTypes.type(ofFile: name).split(separator: ";").first.map(String.init) ?? ""
        if known != MediaType.unknown { return pageTypes.contains(known) ? nil : known }
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let ending = name[name.index(after: dot)...].lowercased()
        return otherEndings.contains(ending) ? "." + ending : nil
    }
}
