/// Text that is safe to print on a terminal: it contains no control sequences, line breaks or direction changes from a
/// peer.
///
/// Names, TXT entries, certificate subjects and error texts come from peers and may contain escape sequences or line
/// breaks. Commands print only values of this type. A literal in the source code is not changed; each `String` that is
/// interpolated into a literal is escaped:
///
///     let line: PrintableText = "+ \(name)  \(type) [\(interface)]"
///
/// A function that prints a `PrintableText` does not accept a `String` value. Code that passes a peer's text to it
/// without escaping does not compile.
package struct PrintableText: Hashable, Sendable {
    /// The escaped text. Its only control characters are line breaks, tabs, and characters from literals in the source
    /// code, for example for colors.
    package private(set) var text: String

    private init(trusted text: String) {
        self.text = text
    }

    package init() {
        self.init(trusted: "")
    }

    /// Creates one line from a peer's text. Escapes line breaks too.
    package init(foreign text: some StringProtocol) {
        self.init(trusted: Self.escaped(text))
    }

    /// Creates several lines that may contain a peer's text. Escapes line breaks within each line.
    package init(lines: some Sequence<some StringProtocol>) {
        self.init(trusted: lines.map { Self.escaped($0) }.joined(separator: "\n"))
    }

    /// Creates a report from this program's text and keeps its line breaks and tabs. Do not pass text in which a peer
    /// could insert line breaks.
    package init(report text: some StringProtocol) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { Self.escaped($0) }.joined(
                separator: "\t")
        }
        self.init(trusted: lines.joined(separator: "\n"))
    }

    /// Creates a JSON document. Control characters become JSON `\u` escapes (RFC 8259 §7), which keeps the document's value.
    package init(document json: some StringProtocol) {
        guard json.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else {
            self.init(trusted: String(json))
            return
        }
        var text = ""
        for scalar in json.unicodeScalars {
            if scalar == "\n" || !Self.isUnsafe(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        self.init(trusted: text)
    }

    package var isEmpty: Bool { text.isEmpty }

    /// Returns the text padded with trailing spaces to at least `width` characters.
    package func padded(to width: Int) -> PrintableText {
        PrintableText(trusted: text + String(repeating: " ", count: max(0, width - text.count)))
    }

    package static func + (left: PrintableText, right: PrintableText) -> PrintableText {
        PrintableText(trusted: left.text + right.text)
    }

    package static func += (left: inout PrintableText, right: PrintableText) {
        left.text += right.text
    }
}

// MARK: Literals

// Literals are `StaticString`, not `String`, because only text in the source code is trusted.
extension PrintableText: ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        package mutating func appendInterpolation(_ value: PrintableText) { text += value.text }

        package mutating func appendInterpolation(_ value: some StringProtocol) { text += PrintableText.escaped(value) }

        package mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += PrintableText.escaped(value.description)
        }

        @_disfavoredOverload
        package mutating func appendInterpolation(_ value: some CustomDebugStringConvertible) {
            text += PrintableText.escaped(value.debugDescription)
        }

        package mutating func appendInterpolation(_ error: any Error) {
            text += PrintableText.escaped(String(describing: error))
        }
    }

    package init(stringLiteral value: StaticString) {
        self.init(trusted: value.description)
    }

    package init(stringInterpolation: StringInterpolation) {
        self.init(trusted: stringInterpolation.text)
    }
}

extension Sequence<PrintableText> {
    package func joined(separator: PrintableText = "") -> PrintableText {
        var text = PrintableText()
        for (index, part) in self.enumerated() {
            if index > 0 { text += separator }
            text += part
        }
        return text
    }
}

// MARK: Escaping

extension PrintableText {
    fileprivate static func escaped(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else { return String(text) }
        var result = ""
        var isBehindASCII = true
        for scalar in text.unicodeScalars {
            // Emoji, Persian and Indic words contain joiners, which are invisible characters. After an ASCII character,
            // a joiner could only make two different texts look equal, so escape it there.
            let isJoiner = (scalar.value == 0x200C || scalar.value == 0x200D) && !isBehindASCII
            if isJoiner || !isUnsafe(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
            isBehindASCII = scalar.isASCII
        }
        return result
    }

    /// Returns whether to escape a character: C0 and C1 controls (ESC, and the single-character CSI U+009B), line separators, and invisible
    /// characters that change the text direction.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
