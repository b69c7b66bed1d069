/// Prints commands and replies of the Redis protocol. The elements of a message are printed one after another.
extension PacketPrinter {
    private enum Kind {
        static let line: UInt8 = 0x2B
        static let error: UInt8 = 0x2D
        static let integer: UInt8 = 0x3A
        static let bulk: UInt8 = 0x24
        static let array: UInt8 = 0x2A
    }

    mutating func resp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "resp"
        out.put(": RESP")
        let limit = min(length, p.count)
        var offset = 0
        while offset < limit { offset = try element(p, offset, limit) }
        try p.require(length, at: 0)
    }

    /// Prints one element and returns the offset of the next element. After an array's header, the next element is the
    /// array's first one.
    private mutating func element(_ p: borrowing ByteView, _ offset: Int, _ limit: Int) throws(WireError) -> Int {
        guard let (line, next) = line(p, offset + 1, limit) else {
            // Words without a type byte are an inline command, as typed by a person.
            quoted(p, offset..<limit)
            return limit
        }
        switch p[offset] {
        case Kind.line, Kind.error, Kind.integer: quoted(p, line)
        case Kind.array:
            if let count = number(p, line), count <= 0 { out.put(count == 0 ? " empty" : " null") }
        case Kind.bulk:
            guard let count = number(p, line) else {
                quoted(p, line)
                break
            }
            if count < 0 {
                out.put(" null")
            } else if count == 0 {
                out.put(" empty")
                return min(next + 2, limit)
            } else {
                try p.require(count, at: next)
                quoted(p, next..<next + count)
                return min(next + count + 2, limit)
            }
        default: quoted(p, offset..<line.upperBound)
        }
        return next
    }

    private func line(_ p: borrowing ByteView, _ start: Int, _ limit: Int) -> (Range<Int>, next: Int)? {
        var end = start
        while end + 1 < limit {
            if p[end] == 0x0D, p[end + 1] == 0x0A { return (start..<end, end + 2) }
            end += 1
        }
        return nil
    }

    private static let longestNumber = 12

    private func number(_ p: borrowing ByteView, _ place: Range<Int>) -> Int? {
        guard !place.isEmpty, place.count <= Self.longestNumber else { return nil }
        let isNegative = p[place.lowerBound] == 0x2D
        var value = 0
        for index in place.dropFirst(isNegative ? 1 : 0) {
            guard (0x30...0x39).contains(p[index]) else { return nil }
            value = value * 10 + Int(p[index]) - 0x30
        }
        return isNegative ? -value : value
    }

    private mutating func quoted(_ p: borrowing ByteView, _ place: Range<Int>) {
        out.put(" \"")
        visible(p.clamped(place))
        out.put("\"")
    }
}
