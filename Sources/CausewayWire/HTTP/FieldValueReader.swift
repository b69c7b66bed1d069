/// A cursor over the parts of a field value (RFC 9110 §5.6).
///
/// Each read consumes the bytes that it returns, or returns `nil` and consumes nothing.
package struct FieldValueReader {
    /// The bytes that have not been read.
    package private(set) var rest: ArraySlice<UInt8>

    package init(_ value: ArraySlice<UInt8>) { rest = value }
    package init(_ value: String) { rest = Array(value.utf8)[...] }

    package var isAtEnd: Bool { rest.isEmpty }
    package var next: UInt8? { rest.first }

    /// Skips spaces and tabs (RFC 9110 §5.6.3).
    package mutating func skipSpace() { rest = rest.drop(while: HTTPCharacters.isSpace) }

    /// Skips the next character if it equals `character`. Returns whether it was skipped.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads a token (RFC 9110 §5.6.2).
    package mutating func token() -> ArraySlice<UInt8>? {
        let token = rest.prefix(while: HTTPCharacters.isToken)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return token
    }

    /// Reads a quoted string (RFC 9110 §5.6.4). Returns its content without quotes and backslashes.
    package mutating func quotedString() -> [UInt8]? {
        guard rest.first == HTTPCharacters.quote else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for index in rest.indices.dropFirst() {
            let byte = rest[index]
            if isEscaped {
                isEscaped = false
            } else if byte == HTTPCharacters.backslash {
                isEscaped = true
                continue
            } else if byte == HTTPCharacters.quote {
                rest = rest[(index + 1)...]
                return content
            }
            content.append(byte)
        }
        return nil
    }

    /// Reads the rest of the field value as a quoted string that has no closing quote. Some servers send such strings.
    /// Returns the content without the backslashes.
    package mutating func unterminatedQuotedString() -> [UInt8]? {
        guard rest.first == HTTPCharacters.quote else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in rest.dropFirst() {
            if !isEscaped, byte == HTTPCharacters.backslash {
                isEscaped = true
                continue
            }
            isEscaped = false
            content.append(byte)
        }
        rest = rest[rest.endIndex...]
        return content
    }

    /// Reads a token, or a quoted string's content.
    package mutating func tokenOrQuotedString() -> [UInt8]? {
        rest.first == HTTPCharacters.quote ? quotedString() : token().map { Array($0) }
    }

    /// Reads a decimal number. A number that is too large becomes `Int.max` (RFC 9111 §1.2.2).
    package mutating func number() -> Int? {
        let digits = rest.prefix(while: HTTPCharacters.isDigit)
        guard !digits.isEmpty else { return nil }
        rest = rest[digits.endIndex...]
        var number = 0
        for digit in digits {
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.addingReportingOverflow(Int(digit - 0x30))
            if overflows || overflowsToo { return .max }
            number = sum
        }
        return number
    }

    /// Reads all bytes before the next `end` byte. An `end` byte inside a quoted string does not count. The result has
    /// no white space at its start and end.
    ///
    /// - Parameter honorsEscapes: Whether a backslash outside quoted strings also escapes an `end` byte.
    package mutating func text(before end: UInt8, honorsEscapes: Bool = false) -> ArraySlice<UInt8> {
        var isQuoted = false
        var isEscaped = false
        var index = rest.startIndex
        while index < rest.endIndex {
            let byte = rest[index]
            if isEscaped {
                isEscaped = false
            } else if byte == HTTPCharacters.backslash {
                // Outside a quoted string, a backslash can escape only `end`. Any other backslash may belong to a file
                // name.
                isEscaped = isQuoted || honorsEscapes && index + 1 < rest.endIndex && rest[index + 1] == end
            } else if byte == HTTPCharacters.quote {
                isQuoted.toggle()
            } else if byte == end, !isQuoted {
                break
            }
            index += 1
        }
        let text = rest[..<index]
        rest = rest[index...]
        return HTTPCharacters.trimmed(text)
    }

    /// Returns `text` unchanged if it is a token, otherwise as a quoted string.
    ///
    /// - Returns: `nil` if the text contains control characters, which are not valid in field values.
    package static func quoted(_ text: String) -> String? {
        if HTTPCharacters.isToken(text.utf8) { return text }
        guard text.utf8.allSatisfy(HTTPCharacters.isFieldValue) else { return nil }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
