/// Converts an element's content to a feed text.
enum TextConstruct {
    /// Returns an element's media type, without parameters, and whether its content is Base64-encoded (RFC 4287 §3.1.1,
    /// §4.1.3.3).
    static func type(_ written: String?, mode: String?, otherwise: String) -> (type: String, isBase64: Bool) {
        let type: String
        let stated = (written ?? "").utf8.prefix { $0 != 0x3B }
        switch XMLCharacters.lowercased(XMLCharacters.trimmed(String(Substring(stated)))) {
        case "": type = otherwise
        case "text", "plain", "text/plain": type = "text/plain"
        case "html", "text/html": type = "text/html"
        case "xhtml", "application/xhtml+xml": type = "application/xhtml+xml"
        case let other: type = other
        }
        if let mode { return (type, XMLCharacters.lowercased(mode) == "base64") }
        let isText = type.hasPrefix("text/") || type.hasSuffix("/xml") || type.hasSuffix("+xml")
        return (type, !isText)
    }

    /// Returns a captured element's text.
    ///
    /// - Parameters:
    ///   - capture: The element's content.
    ///   - isAtom: Whether the feed uses Atom, which states for each text whether it is HTML. RSS does not state this.
    ///     In RSS, a plain text is therefore treated as HTML if it looks like HTML.
    ///   - isContainer: Whether the outer `div` does not belong to the text (RFC 4287 §3.1.1.3).
    ///   - base: The base URL for relative references.
    ///   - budget: The number of tags and attributes that may still be processed. When it is used up, the rest of the
    ///     text is cut off.
    static func text(
        _ capture: MarkupCapture, isAtom: Bool, isContainer: Bool, base: String?, budget: inout Int
    ) -> FeedText {
        var bytes = capture.bytes
        var type = capture.type
        if capture.isBase64 {
            bytes = Base64.decode(bytes)
            if !type.hasPrefix("text/"), !type.hasSuffix("xml") { type = "text/html" }
        }
        var value = String(decoding: XMLCharacters.trimmed(bytes[...]), as: UTF8.self)
        value = withoutControls(value)
        if isContainer { value = withoutDivision(value) }
        if type == "text/plain", !isAtom, HTMLText.looksLikeHTML(value, budget: &budget) { type = "text/html" }
        if type == "text/html" || type == "application/xhtml+xml" || capture.isBase64 {
            value = HTMLCleaner.clean(value, base: base, budget: &budget)
        }
        return FeedText(value, type: type)
    }

    /// Replaces C1 control characters by the windows-1252 characters that authors mean by them.
    private static func withoutControls(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value >= 0x80 && $0.value <= 0x9F }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(
                scalar.value >= 0x80 && scalar.value <= 0x9F ? Windows1252.scalar(UInt8(scalar.value)) : scalar)
        }
        return String(result)
    }

    /// Removes the outer `div` element from the text.
    private static func withoutDivision(_ text: String) -> String {
        guard text.hasPrefix("<div"), text.hasSuffix("</div>"), let end = text.utf8.firstIndex(of: 0x3E) else {
            return text
        }
        // Remove nothing if the first and the last `div` tag belong to different elements. For example, the text may
        // begin with "<div/>" or have several `div` elements in a row.
        let inner = text[text.index(after: end)...].dropLast(6)
        var depth = 0
        var tokens = HTMLTokens(Array(inner.utf8))
        while let token = tokens.next() {
            switch token {
            case .start("div", _, isEmpty: false): depth += 1
            case .end("div"): depth -= 1
            case .start, .end, .text, .comment, .lessThan: break
            }
            if depth < 0 { return text }
        }
        return XMLCharacters.trimmed(String(inner))
    }
}

/// Decodes Base64 (RFC 4648 §4). Skips characters outside the alphabet.
enum Base64 {
    static func decode(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            guard let value = value(byte) else { continue }
            bits = (bits << 6 | UInt32(value)) & 0xFF_FFFF
            count += 6
            if count >= 8 {
                count -= 8
                result.append(UInt8(bits >> UInt32(count) & 0xFF))
            }
        }
        return result
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
