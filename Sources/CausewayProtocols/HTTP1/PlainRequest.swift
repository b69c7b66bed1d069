package import CausewayWire

/// Creates an HTTP request without content (RFC 9112 §3). The server closes the connection after the response.
package enum PlainRequest {
    /// Creates a request head.
    ///
    /// - Parameters:
    ///   - authority: The URL's host and port, such as `example.com:8080`.
    ///   - target: The path with the query, such as `/proxy.pac`.
    ///   - field: An additional header field.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if the authority or the target is empty, or contains a character that
    ///   is not visible ASCII, or if the target does not begin with a slash.
    package static func head(
        authority: String, target: String, version: HTTPVersion, _ field: (name: String, value: String)
    ) throws(UpgradeError) -> HTTPRequestHead {
        for (name, text) in [("host", authority), ("path", target)] {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .unwritable(name) }
        }
        guard target.utf8.first == UInt8(ascii: "/") else { throw .unwritable("path") }
        var fields = FieldSection()
        fields.append("Host", authority)
        fields.append(field.name, field.value)
        fields.append("User-Agent", "causeway")
        fields.append("Connection", "close")
        return HTTPRequestHead(method: "GET", target: target, version: version, fields: fields)
    }
}
