internal import CausewayWire

/// Handles line ends in header fields. In a value, CRLF followed by a space or tab is a fold: the value continues on
/// the next line (RFC 9112 §5.2). Other line ends, and zero bytes, are not allowed, because they could insert
/// additional fields into the request.
extension RequestValues {
    /// Returns whether a header field with this name and value can be set.
    ///
    /// The name must contain no CR, LF or NUL. The value must contain no NUL. It may contain CR and LF only in folds,
    /// which are line ends followed by a space or tab.
    static func canSet(_ value: some StringProtocol, _ name: some StringProtocol) -> Bool {
        guard !name.utf8.contains(where: isLineBreak) else { return false }
        guard value.utf8.contains(where: isLineBreak) else { return true }
        var bytes = Array(value.utf8)[...]
        while let start = bytes.firstIndex(where: isLineBreak) {
            guard let end = endOfFold(in: bytes, at: start) else { return false }
            bytes = bytes[end...]
        }
        return true
    }

    /// The fields as they are sent: with a space instead of each fold, because senders must not fold (RFC 9112 §5.2).
    var unfoldedFields: FieldSection {
        guard fields.contains(where: { $0.value.contains(0x0D) }) else { return fields }
        var unfolded = FieldSection()
        for field in fields { unfolded.append(name: field.name, value: Self.unfolded(field.value)) }
        return unfolded
    }

    private static func unfolded(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var result: [UInt8] = []
        var rest = value
        while let start = rest.firstIndex(of: 0x0D), let end = endOfFold(in: rest, at: start) {
            result += rest[..<start]
            // Remove the white space before a folded line end, because it belongs to the fold.
            while let last = result.last, HTTPCharacters.isSpace(last) { result.removeLast() }
            result.append(0x20)
            rest = rest[end...].drop(while: HTTPCharacters.isSpace)
        }
        return HTTPCharacters.trimmed((result + rest)[...])
    }

    /// Returns the position after the line fold that begins at `start`. A line fold is CRLF followed by a space or tab.
    /// Returns `nil` if no line fold begins at `start`.
    private static func endOfFold(in bytes: ArraySlice<UInt8>, at start: Int) -> Int? {
        let fold = bytes[start...].prefix(3)
        guard fold.count == 3, fold[start] == 0x0D, fold[start + 1] == 0x0A, HTTPCharacters.isSpace(fold[start + 2])
        else { return nil }
        return start + 3
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A || byte == 0 }
}
