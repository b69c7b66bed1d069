import FoundationEssentials

/// Why a peer's octets are no line.
enum LineProblem: Error, Equatable, Sendable {
    /// More than ``Line/limit`` octets without an end.
    case tooLong
    /// The peer ended within a line.
    case unfinished
}

/// The format of the chat: lines that end in CR LF. A lone LF ends a line as well, because that is what people's tools send.
enum Line {
    /// The most octets of a line, without its end.
    static let limit = 1_024
    static let end = Data("\r\n".utf8)
    /// What has to be seen to tell whether a line is too long.
    static let window = limit + 2

    /// The first line of some octets: how long it is, and how long with its end. `nil` if its end has not come yet.
    static func first(in octets: some RandomAccessCollection<UInt8>) throws(LineProblem) -> (count: Int, whole: Int)? {
        guard let end = octets.prefix(window).firstIndex(of: UInt8(ascii: "\n")) else {
            if octets.count >= window { throw .tooLong }
            return nil
        }
        let content = octets[..<end]
        let count = content.last == UInt8(ascii: "\r") ? content.count - 1 : content.count
        guard count <= limit else { throw .tooLong }
        return (count, content.count + 1)
    }
}

/// Cuts a stream into lines. It holds what was given to it last and less than a line of what came before.
struct LineDecoder: Sendable {
    private var octets: [UInt8] = []
    private var offset = 0

    /// Call it when ``next()`` gave nothing: that bounds what is held.
    mutating func append(_ more: Data) {
        octets.removeFirst(offset)
        offset = 0
        octets.append(contentsOf: more)
    }

    /// The next line without its end, or `nil` until more has come.
    mutating func next() throws(LineProblem) -> Data? {
        let rest = octets[offset...]
        guard let (count, whole) = try Line.first(in: rest) else { return nil }
        offset += whole
        return Data(rest.prefix(count))
    }

    /// The stream has ended.
    func finish() throws(LineProblem) {
        if offset < octets.count { throw .unfinished }
    }
}

/// Cuts what a person types into lines, and drops those that are too long to send.
struct TypedLines: Sendable {
    enum Entry: Equatable, Sendable {
        case line(Data)
        /// Of so many octets.
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

    /// What stands before the end of input, if anything.
    mutating func last() -> Entry? { count == 0 ? nil : finish() }

    private mutating func take(_ piece: Data) {
        count += piece.count
        current += piece.prefix(max(0, Line.window - current.count))
    }

    private mutating func finish() -> Entry {
        defer { (current, count) = (Data(), 0) }
        if current.last == UInt8(ascii: "\r"), count == current.count {
            current.removeLast()
            count -= 1
        }
        return count > Line.limit ? .tooLong(count) : .line(current)
    }
}
