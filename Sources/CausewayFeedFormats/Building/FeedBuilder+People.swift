internal import CausewayXML

extension FeedBuilder {
    /// Reads a part of the person whose element is open. Returns false if the element is none.
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

    /// Bytes of the longest line that names a person. The rest is cut off.
    private static let personByteCount = 1024

    /// Ends the element of a person.
    mutating func endPerson(_ key: String, _ frame: Frame) {
        guard var found = person else { return }
        person = nil
        parts.remove(.person)
        let text = String(
            decoding: XMLCharacters.trimmed(frame.text[...]).prefix(Self.personByteCount), as: UTF8.self)
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

    /// Returns the person of a text such as "name (mail)", "mail (name)" or "name <mail>".
    static func person(_ text: String) -> FeedPerson {
        guard !text.isEmpty else { return FeedPerson() }
        let isSeparator: (Character) -> Bool = { $0.isWhitespace || "()<>[],;\"".contains($0) }
        let words = text.split(whereSeparator: isSeparator)
        guard let mail = words.first(where: isMail) else { return FeedPerson(name: text) }
        let rest = text.replacing(mail, with: " ", maxReplacements: 1)
        let name = rest.split(whereSeparator: { $0.isWhitespace || "()<>".contains($0) }).joined(separator: " ")
        let address = mail.hasPrefix("mailto:") ? mail.dropFirst(7) : mail
        return FeedPerson(name: name.isEmpty ? nil : name, email: String(address))
    }

    private static func isMail(_ word: Substring) -> Bool {
        let parts = word.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && parts[1].count > 2 && parts[1].dropFirst().contains(".")
    }
}
