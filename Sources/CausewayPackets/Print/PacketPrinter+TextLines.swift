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
        var tokens: [String] = []
        var word: [UInt8] = []
        for index in 0..<min(p.count, 256) {
            let octet = p[index]
            guard octet < 0x80, octet >= 0x20 || octet == 0x0D || octet == 0x0A || octet == 0x09 else { return false }
            if octet <= 0x20 {
                tokens.append(String(decoding: word, as: UTF8.self))
                word = []
                if tokens.count == 2 || octet == 0x0A { break }
            } else {
                word.append(octet)
            }
        }
        if !word.isEmpty, tokens.count < 2 { tokens.append(String(decoding: word, as: UTF8.self)) }
        guard let first = tokens.first else { return false }
        if words.contains(first.uppercased()) { return true }
        let isStatus = { (text: String) in text.utf8.count == 3 && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }
        return isStatus(first) || (tokens.count > 1 && isStatus(tokens[1]))
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
