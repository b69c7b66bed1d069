import CausewayHTTP
import CausewayHTTPProtocols
import CausewayHTTPServer
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// One form part from the command line, in the notation of curl's option -F.
struct FormItem: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case text(String)
        /// A file sent with its name.
        case file(String)
        /// A file whose content is sent as text.
        case textOfFile(String)
    }

    var name: String
    var content: Content
    var filename: String?
    var mediaType: String?

    /// Reads `NAME=TEXT`, `NAME=@FILE` or `NAME=<FILE`, each optionally followed by `;type=TYPE` and `;filename=NAME`.
    /// Returns `nil` for other words. A semicolon without a following parameter is part of the text.
    init?(_ word: String) {
        guard let equals = word.firstIndex(of: "=") else { return nil }
        name = String(word[..<equals])
        var (value, type, filename): (String?, String?, String?)
        for piece in word[word.index(after: equals)...].split(separator: ";", omittingEmptySubsequences: false) {
            let trimmed = piece.drop { $0 == " " }
            if value != nil, trimmed.hasPrefix("type=") {
                type = String(trimmed.dropFirst(5))
            } else if value != nil, trimmed.hasPrefix("filename=") {
                filename = String(trimmed.dropFirst(9))
            } else if let name = filename {
                filename = name + ";" + piece
            } else if let known = type {
                type = known + ";" + piece
            } else {
                value = value.map { $0 + ";" + piece } ?? String(piece)
            }
        }
        let text = value ?? ""
        content = Self.content(text)
        self.filename = filename.map(Self.unquoted)
        mediaType = type
        if case .file(let path) = content { self.filename = self.filename ?? Self.lastComponent(path) }
        if let type, MediaType(parsing: type) == nil { return nil }
    }

    /// Creates the part for an item: `NAME=TEXT` or `NAME@FILE`. Returns `nil` for other items.
    init?(_ item: RequestItem) {
        switch item {
        case .text(let name, let text): (self.name, content) = (name, .text(text))
        case .file(let name, let path): (self.name, content, filename) = (name, .file(path), Self.lastComponent(path))
        case .field, .query, .json: return nil
        }
    }

    /// Creates the part for a file.
    init(name: String, file path: String) {
        self.name = name
        content = .file(path)
        filename = Self.lastComponent(path)
    }

    private static func content(_ text: String) -> Content {
        switch text.first {
        case "@": .file(unquoted(String(text.dropFirst())))
        case "<": .textOfFile(unquoted(String(text.dropFirst())))
        default: .text(unquoted(text))
        }
    }

    /// Removes quotes around a text, and the backslashes that escape quotes and backslashes.
    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var (result, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if !isEscaped, character == "\\" {
                isEscaped = true
                continue
            }
            if isEscaped, character != "\"", character != "\\" { result.append("\\") }
            result.append(character)
            isEscaped = false
        }
        return result
    }

    private static func lastComponent(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// curl's arguments for this part.
    var curlWords: [String] {
        switch content {
        case .text(let text) where mediaType == nil && filename == nil: return ["--form-string", name + "=" + text]
        case .text(let text): return ["-F", name + "=" + CurlCommand.formValue(text) + parameters]
        case .file(let path): return ["-F", name + "=@" + CurlCommand.formValue(path) + parameters]
        case .textOfFile(let path): return ["-F", name + "=<" + CurlCommand.formValue(path) + parameters]
        }
    }

    private var parameters: String {
        (mediaType.map { ";type=" + $0 } ?? "") + (filename.map { ";filename=" + CurlCommand.formValue($0) } ?? "")
    }
}

/// A form from the command line.
struct RequestForm: Sendable {
    let items: [FormItem]
    let boundary: MultipartBoundary
    let content: MultipartContent

    /// Looks up the file sizes.
    ///
    /// - Throws: ``HTTPCommandFailure`` with curl's exit code if a file cannot be read.
    init(_ items: [FormItem]) throws {
        var random = SystemRandomNumberGenerator()
        let boundary = MultipartBoundary(using: &random)
        var content = MultipartContent()
        do {
            for (index, item) in items.enumerated() {
                var part = MultipartPart(name: item.name, filename: item.filename, mediaType: item.mediaType)
                if part.mediaType == nil, let name = item.filename {
                    // Leave out the `charset` parameter, because the file's character encoding is unknown.
                    part.mediaType = MediaTypes.type(ofFile: name).split(separator: ";").first.map(String.init)
                }
                try content.append(part.head(after: boundary, isFirst: index == 0))
                switch item.content {
                case .text(let text): try content.append(MultipartPart.withLineEnds(text).utf8)
                case .file(let path), .textOfFile(let path): try content.append(file: path)
                }
            }
            try content.append(MultipartPart.end(boundary, isEmpty: items.isEmpty))
        } catch {
            throw HTTPCommandFailure(.read, describe(error))
        }
        self.items = items
        self.boundary = boundary
        self.content = content
    }
}
