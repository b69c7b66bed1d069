package import CausewayWire

/// Encodes an HTTP request without content; the connection serves only this request (RFC 9112 §3).
package enum PlainRequest {
    /// - Parameters:
    ///   - authority: The host and port of the URL: `example.com:8080`.
    ///   - target: The path with the query: `/proxy.pac`.
    ///   - fields: Further header lines.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if a parameter does not fit on one header line.
    package static func bytes(
        authority: String, target: String, version: String, _ fields: [String]
    ) throws(UpgradeError) -> [UInt8] {
        for (name, text) in [("host", authority), ("path", target)] {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .unwritable(name) }
        }
        guard target.utf8.first == UInt8(ascii: "/") else { throw .unwritable("path") }
        let first = ["GET \(target) HTTP/\(version)", "Host: \(authority)"]
        let lines = first + fields + ["User-Agent: causeway", "Connection: close", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}
