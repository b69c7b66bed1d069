import CausewayMarkup
import Foundation

/// A document of the test corpus, and the expected result.
struct FeedCase {
    let path: String
    let data: Data
    let expectation: String
    var source = FeedSource()

    /// The result of testing a document.
    enum Outcome: Equatable {
        case passed
        case failed(String)
        /// The test document expects a value that this library's feeds do not have.
        case unsupported(String)
    }

    /// Reads a test document. A comment in the document states the expected result.
    init?(path: String, data: Data) {
        self.path = path
        self.data = data
        let text = String(decoding: data.filter { $0 != 0 }, as: UTF8.self)
        guard let start = text.range(of: "Expect:")?.upperBound else { return nil }
        let rest = text[start...]
        let end = rest.range(of: path.hasSuffix(".json") ? " -->" : "\n")?.lowerBound ?? rest.endIndex
        expectation = rest[..<end].trimmingCharacters(in: .whitespacesAndNewlines)
        readHeader(text)
    }

    private mutating func readHeader(_ text: String) {
        var fields: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline).prefix(12) {
            let parts = line.split(separator: ":", maxSplits: 2).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 3, parts[0] == "Header" { fields[parts[1].lowercased()] = parts[2] }
        }
        source = FeedSource(
            address: path.contains("http") ? "http://127.0.0.1:8097/tests/\(path)" : nil,
            contentType: fields["content-type"],
            contentLocation: fields["content-location"], contentLanguage: fields["content-language"])
    }

    /// Parses the document, and compares the resulting feed with the expected values.
    func run() -> Outcome {
        let unsupported = ["headers", "etag", "modified", "locals", "['version'] =="]
        if let name = unsupported.first(where: { expectation.contains($0) }),
            !expectation.contains("entries[0]['modified")
        {
            return .unsupported(name)
        }
        var names: [String: ExpectedValue]
        do {
            names = FeedView.names(try Feed(parsing: data, source: source))
        } catch {
            names = FeedView.names(Feed())
            names["bozo"] = .boolean(true)
        }
        do {
            var expression = try Expectation(expectation)
            return try expression.evaluate(names).isTrue ? .passed : .failed(expectation)
        } catch {
            return .failed("\(error): \(expectation)")
        }
    }
}

/// A collection of feeds, in a folder next to the checkout.
enum FeedCorpus {
    /// The folder that contains the feed corpus; `nil` if there is none.
    static let folder: URL? = {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        for place in [root, root.deletingLastPathComponent()] {
            let folder = place.appendingPathComponent("shared/data/feeds")
            if FileManager.default.fileExists(atPath: folder.path) { return folder }
        }
        return nil
    }()

    /// Returns the test documents in `folder`.
    static func cases(in folder: URL) -> [FeedCase] {
        guard let paths = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        return paths.compactMap { $0 as? String }.sorted().compactMap { path in
            guard path.hasSuffix(".xml") || path.hasSuffix(".json") else { return nil }
            return (try? Data(contentsOf: folder.appendingPathComponent(path))).flatMap {
                FeedCase(path: path, data: $0)
            }
        }
    }
}
