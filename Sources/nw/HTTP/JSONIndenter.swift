/// Indents JSON while it arrives, for display on a terminal.
///
/// The indenter does not check the JSON: other text passes through without its line breaks between tokens. It stores a few bytes, and each
/// input byte becomes at most ``maximumIndentation`` + 2 bytes.
struct JSONIndenter: Sendable {
    /// The maximum number of spaces before a line. Deeper values are not indented further.
    static let maximumIndentation = 80

    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether the last byte opened an object or array that may be empty.
    private var isAtStart = false
    /// Whether a line break separates the next top-level value from the previous one.
    private var isBetweenValues = false
    private var hasOutput = false

    /// Indents the next bytes.
    mutating func format(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes { take(byte, &output) }
        return output
    }

    private mutating func take(_ byte: UInt8, _ output: inout [UInt8]) {
        if isInString {
            output.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            if depth == 0, hasOutput { isBetweenValues = true }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth = max(0, depth - 1)
            if isAtStart { isAtStart = false } else { breakLine(&output) }
            output.append(byte)
        default:
            beginToken(&output)
            takeToken(byte, &output)
        }
        hasOutput = hasOutput || !output.isEmpty
    }

    private mutating func beginToken(_ output: inout [UInt8]) {
        if isAtStart {
            isAtStart = false
            breakLine(&output)
        } else if isBetweenValues {
            output.append(UInt8(ascii: "\n"))
        }
        isBetweenValues = false
    }

    private mutating func takeToken(_ byte: UInt8, _ output: inout [UInt8]) {
        output.append(byte)
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            isAtStart = true
        case UInt8(ascii: ","): breakLine(&output)
        case UInt8(ascii: ":"): output.append(UInt8(ascii: " "))
        default: break
        }
    }

    private func breakLine(_ output: inout [UInt8]) {
        output.append(UInt8(ascii: "\n"))
        output += repeatElement(UInt8(ascii: " "), count: min(Self.maximumIndentation, 4 * depth))
    }
}
