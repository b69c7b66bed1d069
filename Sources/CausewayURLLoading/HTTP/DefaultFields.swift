internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// The header fields that a request gets unless the program has set them.
enum DefaultFields {
    /// The default fields `Accept`, `Accept-Encoding`, `Accept-Language` and `User-Agent`. `plain` is for connections
    /// without TLS, and `secure` is for connections with TLS.
    private static let plain = makeFields(isSecure: false)
    private static let secure = makeFields(isSecure: true)

    /// Removes the fields for content framing and for the connection, because the HTTP engine manages them.
    static func removeManaged(from fields: inout FieldSection) {
        for name in ["Content-Length", "Transfer-Encoding", "Connection", "Upgrade"] { fields.removeAll(name) }
    }

    /// Adds the header fields that depend on the request, unless the program has set them.
    static func add(to value: inout HTTPRequestValue, hasContent: Bool, policy: NSURLRequest.CachePolicy) {
        if hasContent, value.method == "POST", !value.fields.contains("Content-Type") {
            value.fields.append("Content-Type", "application/x-www-form-urlencoded")
        }
        if policy == .reloadIgnoringLocalAndRemoteCacheData {
            if !value.fields.contains("Cache-Control") { value.fields.append("Cache-Control", "no-cache") }
            if !value.fields.contains("Pragma") { value.fields.append("Pragma", "no-cache") }
        }
    }

    /// Adds missing fields that do not depend on the request.
    static func addMissing(to fields: inout FieldSection, isSecure: Bool) {
        let all = isSecure ? secure : plain
        guard !fields.isEmpty else { return fields = all }
        for field in all where !fields.contains(String(decoding: field.name, as: UTF8.self)) {
            fields.append(name: field.name, value: field.value)
        }
    }

    private static func makeFields(isSecure: Bool) -> FieldSection {
        var fields = FieldSection()
        fields.append("Accept", "*/*")
        if let codings = ContentDecoder.acceptEncoding(isSecure: isSecure) { fields.append("Accept-Encoding", codings) }
        fields.append("Accept-Language", languages)
        fields.append("User-Agent", userAgent)
        return fields
    }

    /// The preferred languages with descending weights (RFC 9110 §12.5.4).
    private static var languages: String {
        let names = Locale.preferredLanguages.prefix(6).filter { name in
            !name.isEmpty
                && name.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D
                }
        }
        guard !names.isEmpty else { return "en" }
        return names.enumerated().map { index, name in index == 0 ? name : "\(name);q=0.\(9 - (index - 1))" }
            .joined(separator: ", ")
    }

    /// The `User-Agent` value: the names of the program and of this package.
    ///
    /// The program's name must be a valid product token (RFC 9110 §10.1.5). So all its characters except letters,
    /// digits and `.-_` become `_`.
    private static var userAgent: String {
        let name = ProcessInfo.processInfo.processName.utf8.map { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || ".-_".utf8.contains(byte)
                ? byte : UInt8(ascii: "_")
        }
        let text = String(decoding: name, as: UTF8.self)
        return (text.isEmpty ? "program" : text) + " causeway/1"
    }
}
