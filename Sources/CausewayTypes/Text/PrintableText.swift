/// Text that a terminal shows as characters and never obeys: no control sequence, line break or change of direction is left in it.
///
/// Names, TXT entries, certificates' subjects and error texts come from peers, who can put an escape sequence or a line break into
/// them. Commands print values of this type only. A literal in the source is taken as it is; each `String` that is interpolated into
/// one is escaped, so printing foreign text without escaping it does not compile:
///
///     let line: PrintableText = "+ \(name)  \(type) [\(interface)]"
package struct PrintableText: Hashable, Sendable {
    /// The escaped text. Escaping it again changes nothing, except style sequences of literals.
    package private(set) var text: String

    private init(trusted text: String) {
        self.text = text
    }

    package init() {
        self.init(trusted: "")
    }

    /// One line of text from a peer. Line breaks are escaped too.
    package init(foreign text: some StringProtocol) {
        self.init(trusted: Self.escaped(text))
    }

    /// Several lines, each of which may hold text from a peer. Line breaks within one of them are escaped.
    package init(lines: some Sequence<some StringProtocol>) {
        self.init(trusted: lines.map { Self.escaped($0) }.joined(separator: "\n"))
    }

    /// A report that this program made, whose line breaks stay. Not for text whose lines a peer may choose.
    package init(report text: some StringProtocol) {
        self.init(lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    /// A JSON document. Control characters become `\u` escapes of JSON (RFC 8259 §7), so its value stays the same.
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

    /// The text with spaces behind it, up to `width` characters.
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

// `StaticString` and not `String`: only what stands in the source is taken as it is.
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
            // Joiners belong to emoji and to Persian and Indic words; behind ASCII they only hide a difference.
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

    /// Control characters of both sets (ESC, and the one-character CSI U+009B), line separators, and invisible characters that
    /// change the direction of what follows.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
