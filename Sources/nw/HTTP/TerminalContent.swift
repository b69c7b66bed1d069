import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Prepares content for a terminal: JSON is indented, and control characters from the server are escaped.
///
/// At most ``lineLimit`` bytes of an unfinished line are stored.
struct TerminalContent: Sendable {
    /// The maximum number of bytes stored for an unfinished line.
    static let lineLimit = 16 << 10

    private var indenter: JSONIndenter?
    private var rest: [UInt8] = []
    /// Whether the printed text ends with a line break.
    private(set) var isAtLineStart = true

    /// - Parameter type: The `Content-Type` value.
    init(type: String?) {
        let subtype = type.flatMap { MediaType(parsing: $0)?.subtype } ?? ""
        if subtype == "json" || subtype.hasSuffix("+json") { indenter = JSONIndenter() }
    }

    /// Whether content is binary: it contains a zero byte near its beginning.
    static func isBinary(_ content: Data) -> Bool { content.prefix(1_024).contains(0) }

    /// Adds the next bytes. Returns the text of complete lines. Also returns the text of an unfinished line if it is
    /// longer than ``lineLimit``.
    mutating func text(_ content: Data) -> PrintableText {
        if indenter != nil { rest += indenter?.format(content) ?? [] } else { rest += content }
        var end = (rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }) ?? 0
        if end == 0, rest.count > Self.lineLimit { end = Self.characterBoundary(rest) }
        defer { rest.removeFirst(end) }
        return printable(rest[..<end])
    }

    /// Returns the remaining text. Adds a line end if the last line has none.
    mutating func finish() -> PrintableText {
        defer { rest = [] }
        let text = printable(rest[...])
        guard !isAtLineStart else { return text }
        isAtLineStart = true
        return text + "\n"
    }

    private mutating func printable(_ bytes: ArraySlice<UInt8>) -> PrintableText {
        guard let last = bytes.last else { return "" }
        isAtLineStart = last == UInt8(ascii: "\n")
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            // Replace each tab by four spaces. A terminal would move to its next tab stop, which is often too far for
            // code to be readable.
            return String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
                .joined(separator: "    ")
        }
        return PrintableText(lines: lines)
    }

    /// Returns the number of bytes up to the end of the last complete UTF-8 character.
    private static func characterBoundary(_ bytes: [UInt8]) -> Int {
        let tail = bytes.suffix(3).reversed().prefix { $0 & 0xC0 == 0x80 }.count
        let lead = bytes.dropLast(tail).last ?? 0
        let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1
        return length == tail + 1 ? bytes.count : bytes.count - tail - 1
    }
}
