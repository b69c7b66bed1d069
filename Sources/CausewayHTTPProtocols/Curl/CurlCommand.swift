package import CausewayWire

/// A request as a curl command line for a POSIX shell.
///
/// Text is compared byte by byte, as the shell and curl do. Swift compares characters instead: it treats an apostrophe
/// and a following combining mark as one other character. Such an apostrophe would stay unescaped.
package struct CurlCommand: Sendable {
    /// The request content.
    package enum Content: Equatable, Sendable {
        case none
        case bytes([UInt8])
        case file(String)
        case standardInput
        /// A multipart form, as curl arguments.
        case form([String])
    }

    /// Fields that carry credentials.
    private static let secrets = ["authorization", "proxy-authorization", "cookie"]

    package var method: String
    package var target: String
    package var fields: FieldSection
    package var content: Content

    package init(method: String, target: String, fields: FieldSection, content: Content) {
        self.method = method
        self.target = target
        self.fields = fields
        self.content = content
    }

    /// Returns the command line.
    ///
    /// - Parameter showsSecrets: Whether the text contains credentials. Otherwise their values are replaced, because
    ///   users share command lines.
    package func text(showsSecrets: Bool) -> String {
        var words = ["curl"]
        words += methodWords
        // By default, curl interprets brackets and braces in a URL as a pattern, and removes dot segments from its
        // path. `--globoff` and `--path-as-is` prevent this.
        if target.utf8.contains(where: "[]{}".utf8.contains) { words.append("--globoff") }
        let pairs = zip(target.utf8, target.utf8.dropFirst())
        if pairs.contains(where: { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ".") }) {
            words.append("--path-as-is")
        }
        for field in fields { words += ["-H", Self.quoted(line(field, showsSecrets))] }
        let isText = contentWords(&words)
        words.append(Self.quoted(target))
        let command = words.joined(separator: " ")
        guard case .bytes(let bytes) = content, !isText else { return command }
        return "printf \(Self.octal(bytes)) | \(command)"
    }

    private var methodWords: [String] {
        switch (method, content) {
        case ("GET", .none): []
        case ("POST", let content) where content != .none: []
        case ("HEAD", .none): ["--head"]
        default: ["-X", Self.quoted(method)]
        }
    }

    private func line(_ field: FieldSection.Field, _ showsSecrets: Bool) -> String {
        let name = String(decoding: field.name, as: UTF8.self)
        guard showsSecrets || !Self.secrets.contains(name.lowercased()) else { return name + ": (hidden)" }
        // For an empty value, `NAME;` is needed: curl would read `NAME:` as a command to remove a field that it adds
        // itself.
        return field.value.isEmpty ? name + ";" : name + ": " + String(decoding: field.value, as: UTF8.self)
    }

    /// Adds curl's arguments for the content. Returns `false` if curl must read the content from a pipe instead.
    private func contentWords(_ words: inout [String]) -> Bool {
        if case .form(let arguments) = content {
            words += arguments.map(Self.quoted)
            return true
        }
        if content != .none, !fields.contains("Content-Type") { words += ["-H", "'Content-Type:'"] }
        switch content {
        case .none, .form: return true
        case .file(let path): words += ["--data-binary", Self.quoted("@" + path)]
        case .standardInput: words += ["--data-binary", "@-"]
        case .bytes(let bytes):
            // Control characters do not survive when a command is pasted into a terminal. Such content must come
            // through a pipe.
            guard let text = String(validating: bytes, as: UTF8.self),
                !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else {
                words += ["--data-binary", "@-"]
                return false
            }
            // `--data-binary` treats text after `@` as a file name, and `--data-raw` does not.
            words += [bytes.first == UInt8(ascii: "@") ? "--data-raw" : "--data-binary", Self.quoted(text)]
        }
        return true
    }

    /// Returns the text as a POSIX shell word, quoted if necessary.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._/:@%+=,".utf8.contains(byte)
            }
        guard !isPlain else { return text }
        let pieces = text.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// Returns a value for a multipart form argument (`-F`), in double quotes: curl then needs escapes only for
    /// quotation marks and backslashes.
    package static func formValue(_ text: String) -> String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    /// Returns the bytes as a `printf` format.
    private static func octal(_ bytes: [UInt8]) -> String {
        "'" + bytes.map { #"\"# + String(Int($0) + 512, radix: 8).suffix(3) }.joined() + "'"
    }
}
