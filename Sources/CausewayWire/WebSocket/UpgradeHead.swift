/// The reason why a head of the opening handshake is refused.
package enum UpgradeError: Error, Equatable, Sendable {
    /// The message is not HTTP/1.1, or a field is malformed. The text names the part.
    case malformed(String)
    /// The head is longer than ``UpgradeHeadScanner/maximumByteCount`` or has too many fields.
    case tooLong
    /// The WebSocket version is not 13 (RFC 6455 §4.4).
    case unsupportedVersion
    /// The server answered with this status instead of 101.
    case refused(status: Int)
    /// A value from the program cannot be written into a head. The text names the value.
    case unwritable(String)
}

/// Finds the end of a head incrementally and limits its length.
package struct UpgradeHeadScanner: Equatable, Sendable {
    /// Maximum size of a head in bytes, which limits the memory that a peer can occupy.
    package static let maximumByteCount = 16 << 10
    /// Maximum number of fields in a head.
    package static let maximumFieldCount = 128

    package private(set) var head: [UInt8] = []
    /// Number of bytes of the final `CR LF CR LF` that were matched.
    private var matched = 0

    package init() {}

    package var isComplete: Bool { matched == 4 }

    /// Consumes bytes up to the end of the head.
    ///
    /// - Returns: The number of bytes consumed; less than the size of `bytes` only if the head is complete.
    package mutating func take(_ bytes: ArraySlice<UInt8>) throws(UpgradeError) -> Int {
        var taken = 0
        for byte in bytes {
            guard !isComplete else { break }
            guard head.count < Self.maximumByteCount else { throw .tooLong }
            try match(byte)
            head.append(byte)
            taken += 1
        }
        return taken
    }

    /// Checks one byte of a head. A line ends with CR LF, neither byte may occur alone (RFC 9112 §2.2), and zero bytes are errors.
    private mutating func match(_ byte: UInt8) throws(UpgradeError) {
        let expectsLineFeed = matched == 1 || matched == 3
        switch byte {
        case 0x0A where expectsLineFeed: matched += 1
        case 0x0A: throw .malformed("line feed")
        case _ where expectsLineFeed: throw .malformed("carriage return")
        case 0x0D: matched += 1
        case 0: throw .malformed("zero byte")
        default: matched = 0
        }
    }
}

/// The start line and the fields of a head, before interpretation.
struct HeadLines {
    var start: String
    var fields: HeaderFields

    /// Splits a head into lines.
    ///
    /// - Parameter head: The bytes up to and including the empty line.
    init(_ head: [UInt8]) throws(UpgradeError) {
        var lines = Self.lines(of: head)
        guard lines.count >= 3, let last = lines.popLast(), last.isEmpty, let empty = lines.popLast(), empty.isEmpty
        else {
            throw .malformed("missing end of the head")
        }
        guard lines.count - 1 <= UpgradeHeadScanner.maximumFieldCount else { throw .tooLong }
        guard let first = lines.first, first.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .malformed("start line")
        }
        start = String(decoding: first, as: UTF8.self)
        var fields: [HeaderField] = []
        for line in lines.dropFirst() { fields.append(try Self.field(line)) }
        self.fields = HeaderFields(fields)
    }

    /// Parses the status code in the start line (RFC 9112 §4).
    ///
    /// - Parameter versions: The HTTP versions to accept.
    func status(of versions: [Substring]) throws(UpgradeError) -> Int {
        let words = start.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, versions.contains(words[0]) else { throw .malformed("HTTP version") }
        let digits = words[1].utf8
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(words[1]),
            status >= 100
        else { throw .malformed("status") }
        return status
    }

    private static func lines(of head: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index + 1 < head.count {
            if head[index] == 0x0D, head[index + 1] == 0x0A {
                lines.append(head[start..<index])
                index += 2
                start = index
            } else {
                index += 1
            }
        }
        lines.append(head[start...])
        return lines
    }

    /// Parses one header line. White space before the colon and folded lines are errors (RFC 9112 §5.1, §5.2).
    private static func field(_ line: ArraySlice<UInt8>) throws(UpgradeError) -> HeaderField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(HeaderFields.isTokenByte)
        else { throw .malformed("field name") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy(HeaderFields.isAllowedInValue) else { throw .malformed("field value") }
        let text = String(decoding: value, as: UTF8.self)
        return HeaderField(
            String(decoding: line[..<colon], as: UTF8.self), HeaderFields.trimmed(text[...]))
    }
}

/// The header fields that the opening handshake sets itself.
enum HandshakeField {
    static let all = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", "Content-Length", "Transfer-Encoding",
    ]

    static func contains(_ name: String) -> Bool { all.contains { HeaderFields.areEqual($0, name) } }

    /// Appends the program's fields. If several fields have the same name, only the last one is written.
    static func append(_ additional: [HeaderField], to text: inout String) throws(UpgradeError) {
        for (index, field) in additional.enumerated() {
            guard field.isWritable, !contains(field.name) else { throw .unwritable("header \(field.name)") }
            if additional[(index + 1)...].contains(where: { HeaderFields.areEqual($0.name, field.name) }) { continue }
            text += "\(field.name): \(field.value)\r\n"
        }
    }
}
