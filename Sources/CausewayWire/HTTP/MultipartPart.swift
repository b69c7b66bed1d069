/// One form part's header: the fields before its content (RFC 7578 §4.2, §4.4).
///
/// In names, `"`, CR and LF become `%22`, `%0D` and `%0A`, as in browsers. Other control characters except the tab are
/// percent-encoded too. All other characters, including `%`, are sent as UTF-8. A name that contains the text `%22` is
/// therefore read as a name with `"`, as in browsers.
package struct MultipartPart: Equatable, Sendable {
    /// The form field name.
    package var name: String
    /// The file name; `nil` if the part is not a file.
    package var filename: String?
    /// The `Content-Type` value; `nil` for text.
    package var mediaType: String?

    package init(name: String, filename: String? = nil, mediaType: String? = nil) {
        self.name = name
        self.filename = filename
        self.mediaType = mediaType
    }

    /// Reads a part's fields. Returns `nil` if they do not describe a named form part.
    package init?(_ fields: FieldSection) {
        guard let index = fields.index(of: "Content-Disposition") else { return nil }
        var reader = FieldValueReader(fields[index].value)
        guard let type = reader.token(), HTTPCharacters.areEqual(type, "form-data") else { return nil }
        var (name, filename): (String?, String?)
        while true {
            reader.skipSpace()
            guard reader.take(";") else { break }
            reader.skipSpace()
            guard let key = reader.token() else { continue }
            reader.skipSpace()
            guard reader.take("="), let value = Self.value(&reader) else { return nil }
            if HTTPCharacters.areEqual(key, "name") { name = name ?? value }
            if HTTPCharacters.areEqual(key, "filename") { filename = filename ?? value }
        }
        guard let name, reader.isAtEnd else { return nil }
        self.init(name: name, filename: filename, mediaType: fields.firstValue(of: "Content-Type"))
    }

    // MARK: Encoding

    /// Returns the bytes before the content: the delimiter, the fields and the empty line.
    ///
    /// - Parameter isFirst: Whether this is the first part. All later delimiters begin with a line end.
    /// - Throws: ``HTTPSyntaxError`` if the media type has characters that are invalid in a field value.
    package func head(after boundary: MultipartBoundary, isFirst: Bool) throws(HTTPSyntaxError) -> [UInt8] {
        var text = (isFirst ? "--" : "\r\n--") + boundary.text
        text += "\r\nContent-Disposition: form-data; name=\"" + Self.escaped(Self.withLineEnds(name)) + "\""
        if let filename { text += "; filename=\"" + Self.escaped(filename) + "\"" }
        if let mediaType {
            guard mediaType.utf8.allSatisfy(HTTPCharacters.isFieldValue) else { throw .unwritable("media type") }
            text += "\r\nContent-Type: " + mediaType
        }
        return Array((text + "\r\n\r\n").utf8)
    }

    /// Returns the bytes after the final part.
    package static func end(_ boundary: MultipartBoundary, isEmpty: Bool) -> [UInt8] {
        Array(((isEmpty ? "--" : "\r\n--") + boundary.text + "--\r\n").utf8)
    }

    /// Converts all line ends to CRLF. Browsers do this for the names and values of a form.
    package static func withLineEnds(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return text }
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if scalar == "\n" || scalar == "\r" {
                if scalar == "\r" || last != "\r" { result += "\r\n".unicodeScalars }
            } else {
                result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }

    /// Escapes quotation marks and control characters in a name. A field value must not contain control characters.
    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar != "\"", scalar.value >= 0x20 || scalar == "\t", scalar.value != 0x7F {
                result.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += (scalar.value < 16 ? "%0" + digits : "%" + digits).unicodeScalars
            }
        }
        return String(result)
    }

    // MARK: Decoding

    /// Reads a token or a name in quotation marks.
    ///
    /// A backslash in a quoted name is an ordinary character, because browsers do not escape it. Other clients send a
    /// quotation mark in a name as `\"` (RFC 9110 §5.6.4). The reader accepts `\"` as a quotation mark if more text
    /// follows and this text does not begin with a semicolon. Otherwise the quotation mark ends the name.
    private static func value(_ reader: inout FieldValueReader) -> String? {
        guard reader.take("\"") else { return reader.token().map(unescaped) }
        var name: [UInt8] = []
        for index in reader.rest.indices {
            let byte = reader.rest[index]
            guard byte == HTTPCharacters.quote else {
                name.append(byte)
                continue
            }
            let rest = reader.rest[(index + 1)...]
            let next = rest.first { !HTTPCharacters.isSpace($0) }
            if name.last == HTTPCharacters.backslash, let next, next != HTTPCharacters.semicolon {
                name[name.count - 1] = byte
                continue
            }
            reader = FieldValueReader(rest)
            return unescaped(name[...])
        }
        return nil
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "%")) else { return String(decoding: bytes, as: UTF8.self) }
        var (rest, result): (ArraySlice<UInt8>, [UInt8]) = (bytes, [])
        while let byte = rest.popFirst() {
            let escape = byte == UInt8(ascii: "%") ? String(decoding: rest.prefix(2), as: UTF8.self) : ""
            switch escape {
            case "22": result.append(HTTPCharacters.quote)
            case "0D", "0d": result.append(HTTPCharacters.carriageReturn)
            case "0A", "0a": result.append(HTTPCharacters.lineFeed)
            default:
                result.append(byte)
                continue
            }
            rest = rest.dropFirst(2)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
