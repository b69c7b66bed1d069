/// Converts one encoding to UTF-8, in pieces.
package protocol CharacterConversion {
    /// Appends the next piece as UTF-8. Returns the number of malformed bytes, which are replaced.
    mutating func convert(_ bytes: [UInt8], into text: inout [UInt8]) -> Int
}

/// Detects a document's encoding and converts the document to UTF-8, piece by piece (RFC 7303 §3).
///
/// The decoder looks for these signs of an encoding, in this order:
/// - a byte order mark
/// - zero bytes that indicate UTF-16 or UTF-32
/// - the charset in the response
/// - the XML declaration
///
/// The first sign that is present determines the encoding. Without any sign, the encoding is UTF-8.
///
/// Many servers state UTF-8 for all documents. So if a document turns out not to be UTF-8, the decoder switches to the
/// encoding in the document's declaration. Without a declaration, the decoder reads malformed UTF-8 bytes as
/// windows-1252, because such documents usually contain it.
package struct CharacterDecoder {
    private enum Form {
        case undecided
        case utf8
        case wide(byteCount: Int, isBigEndian: Bool)
        case windows1252
        case converted(any CharacterConversion)
    }

    /// Finds a conversion for an encoding name.
    package typealias Lookup = (String) -> (any CharacterConversion)?

    private let charset: String?
    private let lookup: Lookup
    private var form = Form.undecided
    private var waiting: [UInt8] = []
    private var surrogate: UInt32?
    /// The encoding name in lower case, once known.
    package private(set) var name: String?
    /// The declared encoding, for a document that is not UTF-8.
    private var alternative: String?
    /// Whether non-ASCII characters were read as UTF-8.
    private var hasSequences = false
    /// The first encoding name, if the content has shown that it is wrong. This name comes from the response or the
    /// declaration, or is the assumed UTF-8.
    package private(set) var wrongName: String?
    /// The number of malformed bytes, code units or characters.
    private var malformedByteCount = 0
    /// Whether bytes were malformed.
    package var isMalformed: Bool { malformedByteCount > 0 }
    /// Whether the document has too many malformed bytes, that is, more than `maximumMalformedByteCount`. The rest of
    /// the document is then not read, because a malformed byte takes more time than a valid character.
    package var isExhausted: Bool { malformedByteCount > Self.maximumMalformedByteCount }
    /// An unsupported encoding name. The document is then read as UTF-8.
    package private(set) var unknownName: String?

    /// Maximum number of bytes to examine for the encoding.
    private static let headByteCount = 1024
    private static let maximumMalformedByteCount = 1024 * 1024

    /// Creates a decoder. `charset` is the response's charset (RFC 9110 §8.3.2).
    package init(charset: String?, lookup: @escaping Lookup) {
        self.charset = charset.map { XMLCharacters.lowercased(XMLCharacters.trimmed($0)) }.flatMap {
            $0.isEmpty ? nil : $0
        }
        self.lookup = lookup
    }

    /// Appends the next piece of the document as UTF-8.
    package mutating func decode(_ bytes: [UInt8], into text: inout [UInt8]) {
        if case .utf8 = form, waiting.isEmpty, bytes.allSatisfy({ $0 < 0x80 }) { return text += bytes }
        waiting += bytes
        if case .undecided = form {
            guard waiting.count >= Self.headByteCount || Self.endsHead(waiting) else { return }
            decide()
        }
        convert(isLast: false, into: &text)
    }

    /// Ends the document. Appends the bytes that are not converted yet: an incomplete final character, or a document
    /// that was too short to determine its encoding before.
    package mutating func finish(into text: inout [UInt8]) {
        if case .undecided = form { decide() }
        convert(isLast: true, into: &text)
        guard case .utf8 = form else { return }
        if hasSequences, name == "us-ascii" || name == "ascii" {
            (name, wrongName) = ("utf-8", name)
        } else if isMalformed, !hasSequences {
            (name, wrongName) = ("windows-1252", name)
        }
    }

    /// Returns whether the first bytes of a document suffice to determine its character encoding.
    private static func endsHead(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 4 else { return false }
        // While only byte order marks have arrived, wait for more bytes. All marks are removed when the encoding is
        // determined, and a mark that arrives later would not be removed.
        if bytes.starts(with: mark) { return !bytes.allSatisfy(mark.contains) }
        guard zeroPattern(bytes) == nil, byteOrderMark(bytes).1 == nil else { return true }
        let text = bytes.filter { $0 != 0 }.drop { XMLCharacters.isSpace($0) }
        guard text.count >= 2 else { return false }
        return text.contains(0x3E) || !text.starts(with: [0x3C, 0x3F])
    }

    private mutating func decide() {
        let (mark, found) = Self.byteOrderMark(waiting)
        if let found {
            waiting.removeFirst(mark)
            (form, name) = found
            // A document that was made from several files can begin with several byte order marks, one from each file.
            // Remove all of them.
            while name == "utf-8", waiting.starts(with: Self.mark) { waiting.removeFirst(mark) }
            return
        }
        let declared = Self.declaredName(waiting)
        let wanted = charset ?? declared
        if let wide = Self.zeroPattern(waiting) {
            form = wide.form
            name = wide.name
            return
        }
        guard let wanted else {
            (form, name) = (.utf8, "utf-8")
            return
        }
        if !choose(wanted), let declared, declared == wanted || !choose(declared) {
            (form, name, unknownName) = (.utf8, "utf-8", wanted)
        } else if name == nil {
            (form, name, unknownName) = (.utf8, "utf-8", wanted)
        }
        if case .utf8 = form, let declared, declared != name { alternative = declared }
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private mutating func choose(_ wanted: String) -> Bool {
        switch EncodingName.canonical(wanted) {
        // Decode US-ASCII as UTF-8. Some documents declare US-ASCII, but contain non-ASCII bytes in UTF-8 or
        // windows-1252. The UTF-8 decoder reads malformed bytes as windows-1252.
        case "utf-8", "utf8", "unicode-1-1-utf-8", "us-ascii", "ascii", "ansi-x3.4-1968": form = .utf8
        case "iso-8859-1", "latin1", "latin-1", "l1", "cp819", "iso-ir-100", "windows-1252": form = .windows1252
        // A real UTF-16 or UTF-32 document begins with a byte order mark or contains zero bytes at its start, and
        // earlier code has recognized it. This document has neither. So the encoding that it declares is wrong, for
        // example copied from another document.
        case "utf-16", "utf-16le", "utf-16be", "utf-32", "ucs-2", "ucs-4": form = .utf8
        default:
            guard let conversion = lookup(wanted) ?? lookup(EncodingName.canonical(wanted)) else { return false }
            form = .converted(conversion)
        }
        // A GB 2312 document may contain characters from the extension GB 18030, so decode it as GB 18030.
        name = wanted == "gb2312" || wanted == "gbk" ? "gb18030" : wanted
        return true
    }

    private static func byteOrderMark(_ bytes: [UInt8]) -> (Int, (Form, String)?) {
        if bytes.starts(with: mark) { return (3, (.utf8, "utf-8")) }
        if bytes.starts(with: [0x00, 0x00, 0xFE, 0xFF]) {
            return (4, (.wide(byteCount: 4, isBigEndian: true), "utf-32be"))
        }
        if bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) {
            return (4, (.wide(byteCount: 4, isBigEndian: false), "utf-32le"))
        }
        if bytes.starts(with: [0xFE, 0xFF]) { return (2, (.wide(byteCount: 2, isBigEndian: true), "utf-16be")) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (2, (.wide(byteCount: 2, isBigEndian: false), "utf-16le")) }
        return (0, nil)
    }

    /// Detects UTF-16 and UTF-32 by the zero bytes at the start of the document (XML 1.0 appendix F).
    private static func zeroPattern(_ bytes: [UInt8]) -> (form: Form, name: String)? {
        guard bytes.count >= 4 else { return nil }
        switch (bytes[0] == 0, bytes[1] == 0, bytes[2] == 0, bytes[3] == 0) {
        case (true, true, true, false): return (.wide(byteCount: 4, isBigEndian: true), "utf-32be")
        case (false, true, true, true): return (.wide(byteCount: 4, isBigEndian: false), "utf-32le")
        case (true, false, true, false): return (.wide(byteCount: 2, isBigEndian: true), "utf-16be")
        case (false, true, false, true): return (.wide(byteCount: 2, isBigEndian: false), "utf-16le")
        default: return nil
        }
    }

    /// Returns the encoding name from the XML declaration.
    private static func declaredName(_ bytes: [UInt8]) -> String? {
        let head = bytes.prefix(headByteCount).filter { $0 != 0 }
        let start = head.firstIndex { !XMLCharacters.isSpace($0) } ?? head.startIndex
        guard head[start...].starts(with: Array("<?xml".utf8)) else { return nil }
        let end = head.firstIndex(of: 0x3E) ?? head.endIndex
        let declaration = String(decoding: head[start..<end], as: UTF8.self)
        guard let place = declaration.firstRange(of: "encoding")?.upperBound else { return nil }
        let rest = declaration[place...].utf8.drop { XMLCharacters.isSpace($0) || $0 == 0x3D }
        guard let quote = rest.first, quote == 0x22 || quote == 0x27 else { return nil }
        let name = rest.dropFirst().prefix { $0 != quote }
        return name.isEmpty ? nil : XMLCharacters.lowercased(XMLCharacters.trimmed(String(name) ?? ""))
    }

    private mutating func convert(isLast: Bool, into text: inout [UInt8]) {
        switch form {
        case .undecided: break
        case .utf8: convertUTF8(isLast: isLast, into: &text)
        case .wide(let byteCount, let isBigEndian): convertWide(byteCount, isBigEndian, isLast: isLast, into: &text)
        case .windows1252:
            for byte in waiting { XMLCharacters.append(Windows1252.scalar(byte), to: &text) }
            waiting.removeAll(keepingCapacity: true)
        case .converted(var conversion):
            malformedByteCount += conversion.convert(waiting, into: &text)
            form = .converted(conversion)
            waiting.removeAll(keepingCapacity: true)
        }
    }

    private mutating func convertUTF8(isLast: Bool, into text: inout [UInt8]) {
        var index = 0
        // Copy runs of valid bytes at once, not byte by byte.
        var start = 0
        while index < waiting.count {
            if waiting[index] < 0x80 {
                index += 1
                continue
            }
            let count = UTF8Sequence.byteCount(waiting, at: index)
            if count == 0, !isLast, UTF8Sequence.isIncomplete(waiting, at: index) { break }
            if count == 0 {
                if switches(at: index) {
                    text += waiting[start..<index]
                    waiting.removeFirst(index)
                    return convert(isLast: isLast, into: &text)
                }
                malformedByteCount += 1
                text += waiting[start..<index]
                XMLCharacters.append(Windows1252.scalar(waiting[index]), to: &text)
                start = index + 1
            } else {
                hasSequences = true
            }
            index += max(1, count)
        }
        text += waiting[start..<index]
        waiting.removeFirst(index)
    }

    /// Switches from UTF-8 to the encoding in the XML declaration if the bytes from index `first` on contain more
    /// malformed bytes than multi-byte UTF-8 sequences. Returns whether it switched.
    private mutating func switches(at first: Int) -> Bool {
        guard let declared = alternative else { return false }
        alternative = nil
        var (sequences, malformed) = (0, 0)
        var index = first
        while index < waiting.count {
            let count = UTF8Sequence.byteCount(waiting, at: index)
            if count == 0 { malformed += 1 } else if count > 1 { sequences += 1 }
            index += max(1, count)
        }
        let old = (form, name)
        guard malformed > sequences, choose(declared) else { return false }
        if case .utf8 = form {
            (form, name) = old
            return false
        }
        wrongName = old.1
        return true
    }

    private mutating func convertWide(_ byteCount: Int, _ isBigEndian: Bool, isLast: Bool, into text: inout [UInt8]) {
        var index = 0
        while index + byteCount <= waiting.count {
            var unit: UInt32 = 0
            for offset in 0..<byteCount {
                unit = unit << 8 | UInt32(waiting[index + (isBigEndian ? offset : byteCount - 1 - offset)])
            }
            index += byteCount
            append(unit, isWide: byteCount == 4, to: &text)
        }
        waiting.removeFirst(index)
        if isLast, !waiting.isEmpty || surrogate != nil { malformedByteCount += 1 }
    }

    private mutating func append(_ unit: UInt32, isWide: Bool, to text: inout [UInt8]) {
        if !isWide, let high = surrogate {
            surrogate = nil
            if unit >= 0xDC00, unit <= 0xDFFF {
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00)) ?? "\u{FFFD}"
                return XMLCharacters.append(scalar, to: &text)
            }
            malformedByteCount += 1
        }
        if !isWide, unit >= 0xD800, unit <= 0xDBFF { return surrogate = unit }
        if Unicode.Scalar(unit) == nil { malformedByteCount += 1 }
        XMLCharacters.append(Unicode.Scalar(unit) ?? "\u{FFFD}", to: &text)
    }
}

/// Functions for UTF-8 sequences (RFC 3629 §4).
enum UTF8Sequence {
    /// Returns the byte count of the valid UTF-8 sequence at an index; 0 if there is none.
    static func byteCount(_ bytes: [UInt8], at index: Int) -> Int {
        let count = length(bytes[index])
        guard count > 0, index + count <= bytes.count else { return 0 }
        guard count == 1 || isSecond(bytes[index + 1], after: bytes[index]) else { return 0 }
        for offset in 2..<max(2, count) where bytes[index + offset] & 0xC0 != 0x80 { return 0 }
        return count
    }

    /// Returns whether the bytes from an index to the end are an incomplete UTF-8 sequence.
    static func isIncomplete(_ bytes: [UInt8], at index: Int) -> Bool {
        let count = length(bytes[index])
        let available = bytes.count - index
        guard available < count else { return false }
        if available > 1, !isSecond(bytes[index + 1], after: bytes[index]) { return false }
        return available < 3 || bytes[index + 2] & 0xC0 == 0x80
    }

    private static func length(_ byte: UInt8) -> Int {
        switch byte {
        case 0..<0x80: 1
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }

    private static func isSecond(_ byte: UInt8, after first: UInt8) -> Bool {
        switch first {
        case 0xE0: byte >= 0xA0 && byte <= 0xBF
        case 0xED: byte >= 0x80 && byte <= 0x9F
        case 0xF0: byte >= 0x90 && byte <= 0xBF
        case 0xF4: byte >= 0x80 && byte <= 0x8F
        default: byte & 0xC0 == 0x80
        }
    }
}
