import CausewayTypes
import CausewayWire

/// Message heads as text.
enum HTTPHeadText {
    /// Returns the status line and the fields.
    static func lines(_ head: HTTPResponseHead) -> [String] {
        let version = head.version >= .http2 ? "\(head.version.major)" : "\(head.version.major).\(head.version.minor)"
        let reason = head.reason.isEmpty ? "" : " " + head.reason
        return ["HTTP/\(version) \(head.status)\(reason)"] + fieldLines(head.fields)
    }

    /// Returns the request line and the fields. Credentials are hidden, because people share such output.
    static func lines(_ head: HTTPRequestHead, protocolName: String?) -> [String] {
        ["\(head.method) \(head.target) \(protocolName == "h2" ? "HTTP/2" : "HTTP/1.1")"]
            + fieldLines(shown(head.fields))
    }

    /// Hides credential values in fields.
    static func shown(_ all: FieldSection) -> FieldSection {
        var fields = FieldSection()
        for field in all {
            let name = String(decoding: field.name, as: UTF8.self)
            let isSecret = ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name.lowercased())
            fields.append(name, isSecret ? "(hidden)" : String(decoding: field.value, as: UTF8.self))
        }
        return fields
    }

    private static func fieldLines(_ fields: FieldSection) -> [String] {
        fields.map { String(decoding: $0.name, as: UTF8.self) + ": " + String(decoding: $0.value, as: UTF8.self) }
    }

    /// Returns a response head as text for a terminal, with a colored status line.
    static func colored(_ head: HTTPResponseHead) -> PrintableText {
        let lines = lines(head)
        let style: PrintableText.Style = head.status >= 400 ? .removed : head.status >= 300 ? .changed : .added
        return ([PrintableText(foreign: lines[0]).styled(style)] + lines.dropFirst().map { PrintableText(foreign: $0) })
            .joined(separator: "\n")
    }
}
