/// A text protocol. The printer shows a message's first line, or all lines.
struct TextProtocol {
    /// Says whether the three-digit status is the first or the second word of a response.
    enum StatusPlace { case first, second }

    var name: StaticString
    /// The protocol name to print in the mark that shows a truncated packet.
    var part: StaticString
    var status = StatusPlace.first
    /// The words that begin a request, in upper case.
    var words: [String]
}

extension PacketPrinter {
    /// Prints the first line, or all lines if ``Options/verbosity`` is at least 1. If the bytes do not begin a message,
    /// prints only the protocol's name.
    mutating func textLines(_ proto: TextProtocol, _ p: borrowing ByteView, _ length: Int) {
        out.put(proto.name)
        guard beginsMessage(p, proto) else { return }
        part = proto.part
        guard verbosity > 0 else {
            _ = textLine(p, 0, length, ": ")
            return
        }
        put(", length: ", length)
        var offset = 0
        while offset < length, let next = textLine(p, offset, length, "\n\t") { offset = next }
    }

    /// Whether the bytes begin a message. A request begins with a request word. A response has a status as its first or
    /// second word, depending on the protocol.
    private func beginsMessage(_ p: borrowing ByteView, _ proto: TextProtocol) -> Bool {
        guard let (first, next) = token(p, 0) else { return false }
        if proto.words.contains(where: { isWord(p, first, $0) }) { return true }
        switch proto.status {
        case .first: return isStatus(p, first)
        case .second: return token(p, next).map { isStatus(p, $0.0) } ?? false
        }
    }

    private static let longestToken = 127

    /// Returns the range of the word at `start`, which ends before white space, and the offset of the next word. `nil`
    /// if there is no printable word.
    private func token(_ p: borrowing ByteView, _ start: Int) -> (Range<Int>, next: Int)? {
        var end = start
        while end < p.count, !isSpace(p[end]) {
            guard p[end] > 0x20, p[end] < 0x7F, end - start < Self.longestToken else { return nil }
            end += 1
        }
        guard end > start else { return nil }
        var next = end
        while next < p.count, isSpace(p[next]), p[next] != 0x0A, p[next] != 0x0D { next += 1 }
        return (start..<end, next)
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Whether a word in the packet equals `word` without regard to case. `word` must be in upper case.
    private func isWord(_ p: borrowing ByteView, _ place: Range<Int>, _ word: String) -> Bool {
        guard place.count == word.utf8.count else { return false }
        var index = place.lowerBound
        for letter in word.utf8 {
            let byte = p[index]
            guard (0x61...0x7A).contains(byte) ? byte - 0x20 == letter : byte == letter else { return false }
            index += 1
        }
        return true
    }

    /// Returns whether a word is a status code of three digits. After the digits, other characters may follow, as in
    /// `220-`, which begins a response with several lines.
    private func isStatus(_ p: borrowing ByteView, _ place: Range<Int>) -> Bool {
        func isDigit(_ index: Int) -> Bool { (0x30...0x39).contains(p[index]) }
        guard place.count >= 3 else { return false }
        let start = place.lowerBound
        guard isDigit(start), isDigit(start + 1), isDigit(start + 2) else { return false }
        return place.count == 3 || !isDigit(start + 3)
    }

    /// Prints a line. Returns the next line's offset; `nil` if the line is not text or is incomplete.
    private mutating func textLine(
        _ p: borrowing ByteView, _ start: Int, _ length: Int, _ before: StaticString
    ) -> Int? {
        var end = start
        while end < length {
            guard end < p.count else { return cutLine(p, start, end, before) }
            let byte = p[end]
            if byte == 0x0A { return wholeLine(p, start, end, before, end + 1) }
            if byte == 0x0D {
                guard end + 1 < length else { return nil }
                guard end + 1 < p.count else { return cutLine(p, start, end, before) }
                guard p[end + 1] == 0x0A else { return nil }
                return wholeLine(p, start, end, before, end + 2)
            }
            guard byte == 0x09 || (0x20..<0x7F).contains(byte) else { return nil }
            end += 1
        }
        return cutLine(p, start, end, before)
    }

    private mutating func wholeLine(
        _ p: borrowing ByteView, _ start: Int, _ end: Int, _ before: StaticString, _ next: Int
    ) -> Int {
        out.put(before)
        for index in start..<end { out.put(byte: p[index]) }
        return next
    }

    private mutating func cutLine(_ p: borrowing ByteView, _ start: Int, _ end: Int, _ before: StaticString) -> Int? {
        _ = wholeLine(p, start, min(end, p.count), before, end)
        cutOff()
        return nil
    }

    /// Prints the mark for missing bytes.
    mutating func cutOff() {
        out.put(" [|")
        out.put(part)
        out.put("]")
    }
}
