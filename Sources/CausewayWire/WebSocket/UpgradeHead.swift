/// Why a head is refused.
package enum UpgradeError: Error, Equatable, Sendable {
    /// Not HTTP/1.1, or a field is malformed. The text names what.
    case malformed(String)
    /// Longer than ``UpgradeHeadScanner/maximumByteCount``, or of too many fields.
    case tooLong
    /// A version of the protocol other than 13 (RFC 6455 §4.4).
    case unsupportedVersion
    /// The server answered with this status instead of 101.
    case refused(status: Int)
    /// What the program asked for cannot be written into a head. The text names what.
    case unwritable(String)
}

/// Finds the end of a head while it arrives in pieces, and refuses one that does not end.
package struct UpgradeHeadScanner: Equatable, Sendable {
    /// Bytes of the longest head, which is what a peer can make an endpoint hold.
    package static let maximumByteCount = 16 << 10
    /// The most fields in a head.
    package static let maximumFieldCount = 128

    package private(set) var head: [UInt8] = []
    /// Bytes of `CR LF CR LF` seen.
    private var matched = 0

    package init() {}

    package var isComplete: Bool { matched == 4 }

    /// Takes bytes up to the end of the head.
    ///
    /// - Returns: How many it took. Fewer than there are only if the head is complete.
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

    /// A line ends with both characters, and neither stands alone (RFC 9112 §2.2).
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

/// The lines of a head, before they mean anything.
struct HeadLines {
    var start: String
    var fields: HeaderFields

    /// - Parameter head: Up to and with the empty line.
    init(_ head: [UInt8]) throws(UpgradeError) {
        var lines = Self.lines(of: head)
        guard lines.count >= 3, let last = lines.popLast(), last.isEmpty, let empty = lines.popLast(), empty.isEmpty
        else {
            throw .malformed("end of the head")
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

    /// The status that the start line tells (RFC 9112 §4).
    ///
    /// - Parameter versions: Those that may stand before it.
    func status(of versions: [Substring]) throws(UpgradeError) -> Int {
        let words = start.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, versions.contains(words[0]) else { throw .malformed("version of HTTP") }
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

    /// No white space before the colon, and no folded lines (RFC 9112 §5.1, §5.2).
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

/// Names that the opening handshake writes itself.
enum HandshakeField {
    static let all = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions", "Content-Length", "Transfer-Encoding",
    ]

    static func contains(_ name: String) -> Bool { all.contains { HeaderFields.areEqual($0, name) } }

    /// Appends the fields of a program, each name once: the last one given counts.
    static func append(_ additional: [HeaderField], to text: inout String) throws(UpgradeError) {
        for (index, field) in additional.enumerated() {
            guard field.isWritable, !contains(field.name) else { throw .unwritable("header \(field.name)") }
            if additional[(index + 1)...].contains(where: { HeaderFields.areEqual($0.name, field.name) }) { continue }
            text += "\(field.name): \(field.value)\r\n"
        }
    }
}
