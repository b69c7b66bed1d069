package import CausewayWire

/// Makes an HTTP request without content; the connection serves only this request (RFC 9112 §3).
package enum PlainRequest {
    /// - Parameters:
    ///   - authority: The host and port of the URL: `example.com:8080`.
    ///   - target: The path with the query: `/proxy.pac`.
    ///   - field: One more field.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if a parameter does not fit on one header line.
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
