internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import FoundationEssentials

/// Content of known length for a response. The request's conditions and ranges have already been applied (RFC 9110 §13,
/// §14).
struct SelectedContent {
    /// A piece of the response content.
    enum Piece {
        /// Bytes that separate the parts of a multipart response.
        case text([UInt8])
        /// A range of bytes in the representation, which is the complete file or content.
        case range(Range<Int>)
    }

    var status: Int
    var fields: FieldSection
    var pieces: [Piece]
    var length: Int

    /// - Parameter length: The length of the whole representation.
    init(_ status: Int, _ fields: FieldSection, length: Int, for head: HTTPServerRequestHead) {
        self.status = status
        self.fields = fields
        pieces = [.range(0..<length)]
        self.length = length
        let isRead = head.method == "GET" || head.method == "HEAD"
        // RFC 9110 §13.2.1: preconditions apply only if the response would succeed without them.
        guard status == 200, isRead, fields.contains("ETag") || fields.contains("Last-Modified") else { return }
        apply(head, representation: length)
    }

    private mutating func apply(_ head: HTTPServerRequestHead, representation: Int) {
        guard HTTPPreconditions.hasCondition(head.fields) else { return offerRanges() }
        let now = time(nil)
        let validators = HTTPValidators(fields, now: now)
        switch HTTPPreconditions.evaluate(head.fields, method: head.method, validators, now: now) {
        case .failed: return replace(status: 412)
        case .notModified: return replace(status: 304)
        case .proceed: break
        }
        offerRanges()
        switch RangeSelection(head.fields, method: head.method, validators, length: representation, now: now) {
        case .whole: break
        case .unsatisfiable:
            replace(status: 416)
            fields.append("Content-Range", ContentRange(positions: nil, length: representation).text)
        case .parts(let parts):
            status = 206
            // If the program has set `Content-Length`, the value is the length of the whole representation, not of the
            // selected parts.
            fields.removeAll("Content-Length")
            if parts.count == 1 { selectOne(parts[0], representation) } else { selectSeveral(parts, representation) }
        }
    }

    private mutating func offerRanges() {
        if !fields.contains("Accept-Ranges") { fields.append("Accept-Ranges", "bytes") }
    }

    private mutating func replace(status: Int) {
        self.status = status
        pieces = []
        length = 0
        // A 304 response must not describe content (RFC 9110 §15.4.5).
        for name in ["Content-Type", "Content-Length", "Content-Encoding"] { fields.removeAll(name) }
    }

    private mutating func selectOne(_ part: Range<Int>, _ representation: Int) {
        fields.set("Content-Range", ContentRange(positions: part, length: representation).text)
        pieces = [.range(part)]
        length = part.count
    }

    /// Encodes the parts as `multipart/byteranges` (RFC 9110 §14.6).
    private mutating func selectSeveral(_ parts: [Range<Int>], _ representation: Int) {
        let boundary =
            String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
        let type = fields.firstValue(of: "Content-Type").map { "Content-Type: \($0)\r\n" } ?? ""
        pieces = []
        length = 0
        for part in parts {
            let range = ContentRange(positions: part, length: representation).text
            append("\r\n--\(boundary)\r\n\(type)Content-Range: \(range)\r\n\r\n")
            pieces.append(.range(part))
            length += part.count
        }
        append("\r\n--\(boundary)--\r\n")
        fields.set("Content-Type", "multipart/byteranges; boundary=\(boundary)")
    }

    private mutating func append(_ text: String) {
        let bytes = Array(text.utf8)
        pieces.append(.text(bytes))
        length += bytes.count
    }
}
