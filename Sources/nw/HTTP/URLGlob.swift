import CausewayTypes

/// A URL with alternatives in braces and ranges in brackets, in curl's notation: `http://host/{a,b}/[001-100].jpg`.
struct URLGlob: Sendable {
    /// A URL that results from the patterns, and the choice made for each pattern.
    struct Match: Equatable, Sendable {
        var url: String
        var choices: [String]

        /// Replaces `#1`, `#2` and so on in a file name. Each is replaced by the choice with that number. If there is
        /// no such choice, the text stays unchanged.
        func filled(_ name: String) -> String {
            var result = ""
            var rest = name[...]
            while let character = rest.popFirst() {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                if character == "#", let number = Int(digits), choices.indices.contains(number - 1) {
                    result += choices[number - 1]
                    rest = rest.dropFirst(digits.count)
                } else {
                    result.append(character)
                }
            }
            return result
        }
    }

    /// The maximum number of URLs.
    static let limit = 100_000

    private enum Part: Sendable {
        case text(String)
        case choice([String])
    }

    private var parts: [Part] = []

    /// Braces and brackets that are not a pattern, such as those around an IPv6 address, are part of the text.
    init(_ text: String) {
        var rest = text[...]
        var plain = ""
        while let first = rest.first {
            if let (choices, end) = Self.pattern(rest) {
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(.choice(choices))
                rest = rest[end...]
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
    }

    /// The number of URLs; `Int.max` if an integer cannot represent it.
    var count: Int {
        parts.reduce(1) { count, part in
            guard case .choice(let choices) = part else { return count }
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: choices.count)
            return isTooLarge ? .max : product
        }
    }

    /// All URLs that the patterns produce. The choice for the rightmost pattern changes first. Read this only if
    /// ``count`` is at most ``limit``.
    var matches: [Match] {
        parts.reduce([Match(url: "", choices: [])]) { matches, part in
            switch part {
            case .text(let text): return matches.map { Match(url: $0.url + text, choices: $0.choices) }
            case .choice(let choices):
                return matches.flatMap { match in
                    choices.map { Match(url: match.url + $0, choices: match.choices + [$0]) }
                }
            }
        }
    }

    // MARK: Patterns

    /// Returns the choices of the pattern at the start of the text, and the pattern's end. Returns `nil` if no pattern
    /// is there.
    private static func pattern(_ text: Substring) -> (choices: [String], end: Substring.Index)? {
        guard let first = text.first, first == "{" || first == "[",
            let close = text.firstIndex(of: first == "{" ? "}" : "]")
        else { return nil }
        let inner = text[text.index(after: text.startIndex)..<close]
        let choices = first == "{" ? alternatives(inner) : range(inner)
        return choices.map { ($0, text.index(after: close)) }
    }

    /// Returns the choices in braces; `nil` if the text has no comma. Also returns `nil` if the text contains a
    /// quotation mark or another brace, because it may then be a JSON object.
    private static func alternatives(_ text: Substring) -> [String]? {
        guard text.contains(","), !text.contains("\""), !text.contains("{") else { return nil }
        return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the choices for `1-20`, `001-100` or `a-z`, each optionally followed by `:STEP`; `nil` for other text.
    private static func range(_ text: Substring) -> [String]? {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        let step = halves.count == 2 ? Int(digits: halves[1]) : 1
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard halves.count <= 2, let step, step > 0, ends.count == 2 else { return nil }
        if let first = Int(ends[0]), let last = Int(ends[1]), ends.allSatisfy({ $0.allSatisfy(\.isNumber) }) {
            guard first <= last, (last - first) / step < limit else { return nil }
            let width = ends[0].hasPrefix("0") ? ends[0].count : 0
            return stride(from: first, through: last, by: step).map { number in
                let digits = String(number)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            }
        }
        return letters(ends[0], ends[1], step)
    }

    private static func letters(_ first: Substring, _ last: Substring, _ step: Int) -> [String]? {
        guard first.utf8.count == 1, last.utf8.count == 1, let from = first.utf8.first, let to = last.utf8.first,
            from <= to, first.first?.isLetter == true, last.first?.isLetter == true,
            first.first?.isLowercase == last.first?.isLowercase
        else { return nil }
        return stride(from: Int(from), through: Int(to), by: step).compactMap { UInt8(exactly: $0) }
            .map { String(UnicodeScalar($0)) }
    }
}
