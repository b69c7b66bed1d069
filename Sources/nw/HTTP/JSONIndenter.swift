/// Indents JSON while it arrives, for display on a terminal.
///
/// The indenter does not check the JSON. In other text, it changes white space that is not inside quotes. It stores a
/// few bytes, and each byte of valid JSON becomes at most ``maximumIndentation`` + 2 bytes.
struct JSONIndenter: Sendable {
    /// The maximum number of spaces before a line. Deeper values are not indented more.
    static let maximumIndentation = 80

    private enum Position {
        case inString
        /// The position is in a string, after a backslash.
        case escaped
        /// The position is directly after an opening `{` or `[`. The object or array may be empty.
        case opened
        /// White space outside of all objects and arrays precedes the position. The next value starts on a new line.
        case betweenValues
        case elsewhere
    }

    private var depth = 0
    private var position = Position.elsewhere
    private var hasOutput = false

    /// Indents the next bytes.
    mutating func format(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes { take(byte, &output) }
        return output
    }

    private mutating func take(_ byte: UInt8, _ output: inout [UInt8]) {
        switch position {
        case .inString:
            output.append(byte)
            if byte == UInt8(ascii: "\\") { position = .escaped }
            if byte == UInt8(ascii: "\"") { position = .elsewhere }
        case .escaped:
            output.append(byte)
            position = .inString
        case .opened, .betweenValues, .elsewhere: takeOutside(byte, &output)
        }
    }

    private mutating func takeOutside(_ byte: UInt8, _ output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            if depth == 0, hasOutput { position = .betweenValues }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth = max(0, depth - 1)
            if position == .opened { position = .elsewhere } else { breakLine(&output) }
            output.append(byte)
        default:
            beginToken(&output)
            takeToken(byte, &output)
        }
        hasOutput = hasOutput || !output.isEmpty
    }

    private mutating func beginToken(_ output: inout [UInt8]) {
        if position == .opened { breakLine(&output) }
        if position == .betweenValues { output.append(UInt8(ascii: "\n")) }
        position = .elsewhere
    }

    private mutating func takeToken(_ byte: UInt8, _ output: inout [UInt8]) {
        output.append(byte)
        switch byte {
        case UInt8(ascii: "\""): position = .inString
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            position = .opened
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
