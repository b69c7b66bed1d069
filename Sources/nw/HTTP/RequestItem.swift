import CausewayWire
import FoundationEssentials

/// One argument after the URL in `nw http`, in HTTPie's notation. The character after a backslash is taken literally.
enum RequestItem: Equatable, Sendable {
    /// `NAME:VALUE`. An empty value removes a default field.
    case field(name: String, value: String)
    /// `NAME==VALUE`: a query parameter.
    case query(name: String, value: String)
    /// `NAME=VALUE`: a JSON object member, or a form field.
    case text(name: String, value: String)
    /// `NAME:=JSON`: a JSON object member.
    case json(name: String, value: String)
    /// `NAME@FILE`: a file in a form.
    case file(name: String, path: String)

    private static let separators = [":=", "==", "=", ":", "@"]

    var isFile: Bool { if case .file = self { true } else { false } }

    /// Parses a request item from the command line. Returns `nil` unless the word contains a name followed by a
    /// separator.
    init?(_ word: String) {
        var name = ""
        var rest = word[...]
        while let character = rest.first {
            if character == "\\", let next = rest.dropFirst().first {
                name.append(next)
                rest = rest.dropFirst(2)
                continue
            }
            if let separator = Self.separators.first(where: { rest.hasPrefix($0) }) {
                guard !name.isEmpty else { return nil }
                self.init(name, separator, String(rest.dropFirst(separator.count)))
                return
            }
            name.append(character)
            rest = rest.dropFirst()
        }
        return nil
    }

    private init(_ name: String, _ separator: String, _ value: String) {
        switch separator {
        case ":=": self = .json(name: name, value: value)
        case "==": self = .query(name: name, value: value)
        case "=": self = .text(name: name, value: value)
        case "@": self = .file(name: name, path: value)
        default: self = .field(name: name, value: value)
        }
    }
}

/// The method, URL and items among the arguments of `nw http`.
struct RequestWords: Equatable, Sendable {
    private static let methods: Set<String> = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]

    /// `nil` if no method was given.
    var method: String?
    var url: String
    /// The words after the URL.
    var items: [String]

    /// Parses the words of a command line. Returns `nil` if there is no URL.
    init?(_ words: [String]) {
        var words = words[...]
        if words.count > 1, let first = words.first, Self.isMethod(first) {
            let word = String(words.removeFirst())
            method = Self.methods.contains(word.lowercased()) ? word.uppercased() : word
        }
        guard let url = words.popFirst() else { return nil }
        self.url = url
        items = Array(words)
    }

    /// Whether a word before the URL is a method: a known method in any case, or any word in capitals.
    private static func isMethod(_ word: String) -> Bool {
        methods.contains(word.lowercased())
            || !word.isEmpty && word.allSatisfy { ("A"..."Z").contains($0) || $0 == "-" }
    }

    /// Returns an absolute URL. If the scheme is missing, it is `http`. Text such as `:8080/path` means this port and
    /// path on localhost.
    static func absolute(_ text: String) -> String {
        if text.contains("://") { return text }
        return text.hasPrefix(":") && !text.hasPrefix("::") ? "http://localhost" + text : "http://" + text
    }
}

/// Content made from items.
enum ItemContent {
    /// Returns a JSON object with the members in the given order. Returns `nil` if a value of `NAME:=JSON` is not JSON.
    static func json(_ items: [RequestItem]) -> Data? {
        var members: [String] = []
        for item in items {
            switch item {
            case .text(let name, let value): members.append(quoted(name) + ": " + quoted(value))
            case .json(let name, let value):
                guard isJSON(value) else { return nil }
                members.append(quoted(name) + ": " + value)
            case .field, .query, .file: break
            }
        }
        return Data(("{" + members.joined(separator: ", ") + "}").utf8)
    }

    /// Returns the text fields in HTML form encoding.
    static func form(_ items: [RequestItem]) -> Data {
        let pairs = items.compactMap { item -> String? in
            guard case .text(let name, let value) = item else { return nil }
            return encoded(name) + "=" + encoded(value)
        }
        return Data(pairs.joined(separator: "&").utf8)
    }

    /// Returns the `NAME==VALUE` items as a query; `nil` if there are no such items.
    static func query(_ items: [RequestItem]) -> String? {
        let pairs = items.compactMap { item -> String? in
            guard case .query(let name, let value) = item else { return nil }
            return encoded(name) + "=" + encoded(value)
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: "&")
    }

    /// Encodes text for forms and queries. ASCII letters, digits and `*-._` are not changed, a space becomes a plus
    /// sign, and all other bytes are percent-encoded.
    static func encoded(_ text: String) -> String { encoded(Array(text.utf8), kept: "*-._", space: "+") }

    /// Encodes bytes as curl does: all except the unreserved characters in URLs (RFC 3986 §2.3).
    static func percentEncoded(_ bytes: [UInt8]) -> String { encoded(bytes, kept: "-._~", space: "%20") }

    private static func encoded(_ bytes: [UInt8], kept: String, space: String) -> String {
        var result: [UInt8] = []
        for byte in bytes {
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || kept.contains(character))
            if isPlain {
                result.append(byte)
            } else if byte == UInt8(ascii: " ") {
                result += space.utf8
            } else {
                PercentCoding.appendEncoded(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    static func isJSON(_ text: String) -> Bool {
        (try? JSONDecoder().decode(AnyValue.self, from: Data(text.utf8))) != nil
    }

    /// Returns text as a JSON string (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
