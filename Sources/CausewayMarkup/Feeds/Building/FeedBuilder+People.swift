extension FeedBuilder {
    /// Reads a child element of the open person. Returns `false` for other elements.
    mutating func endPart(ofPerson key: String, _ value: String) -> Bool {
        guard !value.isEmpty else { return true }
        let address = resolve(value)
        switch key {
        case "name", "itunes_name": person?.name = value
        case "email", "itunes_email": person?.email = value
        case "uri", "url", "homepage", "link": person?.link = address
        default: return false
        }
        return true
    }

    /// The maximum length in bytes for a line with a person's name and mail address. The rest of the line is cut off.
    private static let personByteCount = 1024

    /// Ends a person element.
    mutating func endPerson(_ key: String, _ frame: Frame) {
        guard var found = person else { return }
        person = nil
        parts.remove(.person)
        let text = String(
            decoding: XMLCharacters.trimmed(frame.text[...]).prefix(Self.personByteCount), as: UTF8.self)
        guard spend(text.utf8.count / 8) else { return }
        if found == FeedPerson() { found = Self.person(text) }
        guard found != FeedPerson(), keep(text.utf8.count + 64) else { return }
        change {
            switch key {
            case "contributor", "dc_contributor":
                if $0.people.contributors.count < 64 { $0.people.contributors.append(found) }
            case "publisher", "webmaster", "dc_publisher", "itunes_owner": $0.people.publisher = found
            default:
                let isKnown = $0.people.authors.contains {
                    $0 == found || ($0.name != nil && FeedPerson(name: $0.name) == found)
                }
                if $0.people.authors.count < 64, !isKnown { $0.people.authors.append(found) }
            }
        }
    }

    /// Parses a person from a text such as "name (mail)", "mail (name)" or "name <mail>".
    static func person(_ text: String) -> FeedPerson {
        guard !text.isEmpty else { return FeedPerson() }
        // Process bytes instead of characters. Characters take fifty times as long.
        let bytes = Array(text.utf8)
        let words = bytes.split { XMLCharacters.isSpace($0) || mailEnds.contains($0) }
        guard let mail = words.first(where: isMail) else { return FeedPerson(name: text) }
        let parts = [bytes[..<mail.startIndex], bytes[mail.endIndex...]].flatMap { part in
            part.split { XMLCharacters.isSpace($0) || nameEnds.contains($0) }
        }
        let name = String(decoding: Array(parts.joined(separator: [0x20])), as: UTF8.self)
        let address = mail.starts(with: mailScheme) ? mail.dropFirst(mailScheme.count) : mail
        return FeedPerson(name: name.isEmpty ? nil : name, email: String(decoding: address, as: UTF8.self))
    }

    private static let mailEnds = Array("()<>[],;\"".utf8)
    private static let nameEnds = Array("()<>".utf8)
    private static let mailScheme = Array("mailto:".utf8)

    private static func isMail(_ word: ArraySlice<UInt8>) -> Bool {
        guard let mark = word.firstIndex(of: 0x40), mark > word.startIndex else { return false }
        let host = word[(mark + 1)...]
        return host.count > 2 && !host.contains(0x40) && host.dropFirst().contains(0x2E)
    }
}
