import CausewayHTTPProtocols
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// The text that -w prints after a transfer, with curl's variables.
struct WriteOut: Sendable {
    /// A template has an unknown variable, or its file cannot be read.
    struct InvalidTemplate: Error {
        let message: String
    }

    fileprivate enum Part: Equatable, Sendable {
        case text(String)
        case variable(TransferVariable)
        case field(String)
        case output
        case errors
        case all
        case fields
        /// `%{onerror}`: the text after this variable is printed only if the transfer failed.
        case onError
    }

    private var parts: [Part] = []

    /// - Parameter template: Text, or `@FILE`; `@-` reads standard input.
    init(_ template: String) throws(InvalidTemplate) {
        guard template.hasPrefix("@") else {
            parts = try Self.parse(template)
            return
        }
        let path = String(template.dropFirst())
        var content = Data()
        do {
            let file = path == "-" ? OpenFile.standardInput : try OpenFile(reading: path)
            while content.count < 1 << 20, let piece = try file.readChunk(atMost: 64 << 10) { content += piece }
        } catch {
            throw InvalidTemplate(message: "cannot read \(path): \(describe(error).text)")
        }
        parts = try Self.parse(String(decoding: content, as: UTF8.self))
    }

    private static func parse(_ template: String) throws(InvalidTemplate) -> [Part] {
        var (parts, text) = ([Part](), "")
        var rest = template[...]
        func end() {
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
        }
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.first, let escape = escapes[next] {
                text.append(escape)
                rest = rest.dropFirst()
            } else if character == "%", rest.first == "%" {
                text.append("%")
                rest = rest.dropFirst()
            } else if character == "%", let (part, after) = try variable(rest) {
                end()
                parts.append(part)
                rest = after
            } else {
                text.append(character)
            }
        }
        end()
        return parts
    }

    private static let escapes: [Character: Character] = ["n": "\n", "r": "\r", "t": "\t"]

    /// Parses the text after a percent sign. Returns the variable for `{NAME}` or `header{NAME}`, and `nil` for all
    /// other text.
    private static func variable(_ text: Substring) throws(InvalidTemplate) -> (Part, Substring)? {
        let isField = text.hasPrefix("header{")
        guard isField || text.hasPrefix("{"), let close = text.firstIndex(of: "}") else { return nil }
        let name = String(text[..<close].dropFirst(isField ? "header{".count : 1))
        let after = text[text.index(after: close)...]
        if isField { return (.field(name), after) }
        if let variable = TransferVariable(rawValue: name) { return (.variable(variable), after) }
        guard let part = others[name] else { throw InvalidTemplate(message: "%{\(name)} is not a variable of -w") }
        return (part, after)
    }

    private static let others: [String: Part] = [
        "stdout": .output, "stderr": .errors, "json": .all, "header_json": .fields, "onerror": .onError,
    ]

    // MARK: Printing

    /// Returns the texts for standard output and standard error. Control characters in values, which the server chooses, are escaped.
    func text(_ transfer: TransferResult) -> (output: String, errors: String) {
        var (output, errors, goesToErrors) = ("", "", false)
        for part in parts {
            var text = ""
            switch part {
            case .text(let given): text = given
            case .variable(let variable): text = PrintableText(foreign: transfer.text(of: variable)).text
            case .field(let name): text = PrintableText(foreign: transfer.fields.firstValue(of: name) ?? "").text
            case .all: text = PrintableText(json: transfer.all).text
            case .fields: text = PrintableText(json: transfer.fieldValues, isIndented: true).text
            case .output: goesToErrors = false
            case .errors: goesToErrors = true
            case .onError: if transfer.exitCode == 0 { return (output, errors) }
            }
            if goesToErrors { errors += text } else { output += text }
        }
        return (output, errors)
    }

    func print(_ transfer: TransferResult) {
        let (output, errors) = text(transfer)
        StandardOutput.finish(output)
        try? OpenFile.standardError.writeAll(Data(errors.utf8))
    }
}
