/// Protocols of lines, of which the first one is shown.
extension PacketPrinter {
    /// Protocols of lines: the first line, or all of them where verbosity asks for it.
    mutating func textLines(_ name: StaticString, _ words: [String], _ p: borrowing Octets, _ length: Int) {
        out.put(": ")
        out.put(name)
        guard isText(p, words) else { return put(", length: ", length) }
        guard verbosity > 0 else {
            out.put(": ")
            _ = textLine(p, 0)
            return
        }
        put(", length: ", length)
        var offset = 0
        while offset < p.count {
            guard lineEnd(p, offset) != nil else { break }
            out.put("\n\t")
            offset = textLine(p, offset)
        }
    }

    /// The first word is one of the protocol's, or the second is a status of three digits.
    private func isText(_ p: borrowing Octets, _ words: [String]) -> Bool {
        var (first, second) = (0..<0, 0..<0)
        var (count, start, index) = (0, 0, 0)
        let end = min(p.count, 256)
        while index < end {
            let octet = p[index]
            guard octet < 0x80, octet >= 0x20 || octet == 0x0D || octet == 0x0A || octet == 0x09 else { return false }
            if octet <= 0x20 {
                if count == 0 { first = start..<index } else { second = start..<index }
                (count, start) = (count + 1, index + 1)
                if count == 2 || octet == 0x0A { break }
            }
            index += 1
        }
        // What no space has ended.
        if index == end, start < end, count < 2 {
            if count == 0 { first = start..<end } else { second = start..<end }
        }
        return words.contains { isWord(p, first, $0) } || isStatus(p, first) || isStatus(p, second)
    }

    /// Whether a word of a packet is `word`, which is in upper case.
    private func isWord(_ p: borrowing Octets, _ place: Range<Int>, _ word: String) -> Bool {
        guard place.count == word.utf8.count else { return false }
        var index = place.lowerBound
        for letter in word.utf8 {
            let octet = p[index]
            guard (0x61...0x7A).contains(octet) ? octet - 0x20 == letter : octet == letter else { return false }
            index += 1
        }
        return true
    }

    private func isStatus(_ p: borrowing Octets, _ place: Range<Int>) -> Bool {
        guard place.count == 3 else { return false }
        for index in place where !(0x30...0x39).contains(p[index]) { return false }
        return true
    }

    private func lineEnd(_ p: borrowing Octets, _ start: Int) -> Int? {
        var index = start
        while index < p.count {
            if p[index] == 0x0A { return index > start && p[index - 1] == 0x0D ? index - 1 : index }
            let octet = p[index]
            guard octet < 0x80, octet >= 0x20 || octet == 0x09 || octet == 0x0D else { return nil }
            index += 1
        }
        return index
    }

    /// Prints a line; returns where the next one begins.
    private mutating func textLine(_ p: borrowing Octets, _ start: Int) -> Int {
        var index = start
        while index < p.count, p[index] != 0x0A {
            if p[index] == 0x0D, index + 1 < p.count, p[index + 1] == 0x0A { break }
            visible(p[index])
            index += 1
        }
        while index < p.count, p[index] != 0x0A { index += 1 }
        return index + 1
    }
}
