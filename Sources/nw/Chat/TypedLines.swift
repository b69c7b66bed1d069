import CausewayLines
import FoundationEssentials

/// Splits the text that a user types into lines. Does not keep lines that are too long to send.
struct TypedLines: Sendable {
    enum Entry: Equatable, Sendable {
        case line(Data)
        /// A line that is too long to send, with its length in bytes.
        case tooLong(Int)
    }

    private var current = Data()
    private var count = 0

    mutating func append(_ chunk: Data) -> [Entry] {
        var entries: [Entry] = []
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[..<end])
            entries.append(finish())
            rest = rest[(end + 1)...]
        }
        take(rest)
        return entries
    }

    /// Returns the incomplete final line at the end of input; `nil` if there is none.
    mutating func last() -> Entry? { count == 0 ? nil : finish() }

    private mutating func take(_ piece: Data) {
        count += piece.count
        current += piece.prefix(max(0, LineFormat.window - current.count))
    }

    private mutating func finish() -> Entry {
        defer { (current, count) = (Data(), 0) }
        if current.last == UInt8(ascii: "\r"), count == current.count {
            current.removeLast()
            count -= 1
        }
        return count > LineFormat.limit ? .tooLong(count) : .line(current)
    }
}
