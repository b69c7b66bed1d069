package import CausewayWire

/// A request without content, on a connection of its own (RFC 9112 §3).
package enum PlainRequest {
    /// - Parameters:
    ///   - authority: What stands in the URL: `example.com:8080`.
    ///   - target: The path with the query: `/proxy.pac`.
    ///   - fields: Further lines of the head.
    /// - Throws: ``UpgradeError/unwritable(_:)`` for what would not be one line.
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
