/// Counts how deep the elements of an XML property list are nested, without recursion.
///
/// The count may be too high for a malformed list, but never too low for a list that Foundation's decoder accepts.
struct XMLPropertyListDepth {
    private static let comment = (start: Array("!--".utf8), end: Array("-->".utf8))
    private static let characters = (start: Array("![CDATA[".utf8), end: Array("]]>".utf8))
    private static let instruction = (start: Array("?".utf8), end: Array("?>".utf8))
    private static let tagEnd = Array(">".utf8)
    /// The elements that contain others. The decoder compares only the beginning of a tag.
    private static let containers = ["array", "dict", "plist"].map { Array($0.utf8) }

    private let text: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// Reads the text, and returns whether the depth never exceeds a limit.
    mutating func isAtMost(_ limit: Int) -> Bool {
        while let start = text[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start + 1
            readMarkup()
            if depth > limit { return false }
        }
        return true
    }

    /// Reads the markup behind a "<".
    private mutating func readMarkup() {
        if starts(with: Self.comment.start) { return skip(Self.comment.start.count, to: Self.comment.end) }
        if starts(with: Self.characters.start) { return skip(Self.characters.start.count, to: Self.characters.end) }
        if starts(with: Self.instruction.start) { return skip(0, to: Self.instruction.end) }
        let isEnd = starts(with: [UInt8(ascii: "/")])
        let name = text[(index + (isEnd ? 1 : 0))...]
        let isContainer = Self.containers.contains { name.starts(with: $0) }
        skip(0, to: Self.tagEnd)
        guard isContainer else { return }
        if isEnd {
            depth = max(0, depth - 1)
        } else if text[index - 1] != UInt8(ascii: ">") || text[index - 2] != UInt8(ascii: "/") {
            depth += 1
        }
    }

    private func starts(with pattern: [UInt8]) -> Bool { text[index...].starts(with: pattern) }

    /// Moves behind the next occurrence of a pattern, or to the end of the text.
    private mutating func skip(_ count: Int, to pattern: [UInt8]) {
        index += count
        while let start = text[index...].firstIndex(of: pattern[0]) {
            index = start
            guard !starts(with: pattern) else {
                index += pattern.count
                return
            }
            index += 1
        }
        index = text.count
    }
}
