import ArgumentParser
import CausewayTypes
import FoundationEssentials

/// The request content from the options -d, --data-raw and --data-urlencode. The values are joined with `&`. All -d
/// values come first, then all --data-raw values, then all --data-urlencode values.
struct RequestData {
    /// A --data-urlencode value: a text or a file, with an optional name before it.
    private struct Encoded {
        var name: String
        var text: String?
        var file: String?

        /// Reads `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`, as curl does.
        init(_ word: String) {
            guard let mark = word.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
                (name, text) = ("", word)
                return
            }
            name = String(word[..<mark])
            let rest = String(word[word.index(after: mark)...])
            if word[mark] == "=" { text = rest } else { file = rest }
        }
    }

    let options: HTTPRequestOptions

    var isEmpty: Bool { options.data.isEmpty && options.dataRaw.isEmpty && options.dataUrlencode.isEmpty }

    /// The values of the data options, joined. If the only value is `-d @FILE`, the content comes from this file or
    /// from standard input.
    ///
    /// - Throws: ``HTTPCommandFailure`` if a file cannot be read.
    func content() throws -> RequestContent {
        if options.data.count == 1, options.dataRaw.isEmpty, options.dataUrlencode.isEmpty {
            return Self.content(options.data[0])
        }
        return .data(Data(try joined()))
    }

    /// The values as a query.
    ///
    /// - Throws: ``HTTPCommandFailure`` if a file cannot be read, or if a value names standard input. Standard input
    ///   cannot be part of the URL.
    func query() throws -> String {
        guard !options.data.contains("@-"), !options.dataUrlencode.contains(where: { $0.hasSuffix("@-") }) else {
            throw HTTPCommandFailure(.read, "-G cannot read standard input")
        }
        return String(decoding: try joined(), as: UTF8.self)
    }

    private func joined() throws -> [UInt8] {
        let plain = try options.data.map { $0.hasPrefix("@") ? try Self.read(String($0.dropFirst())) : Array($0.utf8) }
        let encoded = try options.dataUrlencode.map { word in
            let item = Encoded(word)
            let value = try item.text.map { Array($0.utf8) } ?? Self.read(item.file ?? "")
            return Array((item.name.isEmpty ? "" : item.name + "=").utf8)
                + Array(ItemContent.percentEncoded(value).utf8)
        }
        let values = plain + options.dataRaw.map { Array($0.utf8) } + encoded
        return Array(values.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Returns the content for a -d value: the text, or the file after `@`.
    static func content(_ text: String) -> RequestContent {
        guard text.hasPrefix("@") else { return .data(Data(text.utf8)) }
        return text == "@-" ? .standardInput : .file(String(text.dropFirst()))
    }

    /// The maximum size of a --data-urlencode file in bytes.
    private static let limit = 64 << 20

    private static func read(_ path: String) throws -> [UInt8] {
        var content: [UInt8] = []
        do {
            let file = path == "-" ? OpenFile.standardInput : try OpenFile(reading: path)
            while let piece = try file.readChunk(atMost: 64 << 10) {
                content += piece
                guard content.count <= limit else {
                    throw CommandFailure("more than \(Amounts.bytes(UInt64(limit)))")
                }
            }
        } catch {
            throw HTTPCommandFailure(.read, "cannot read \(PrintableText(foreign: path)): \(describe(error))")
        }
        return content
    }
}
