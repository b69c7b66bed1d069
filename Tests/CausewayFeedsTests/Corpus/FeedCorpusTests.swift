import CausewayMarkup
import Foundation
import Testing

@Suite("Corpus of feeds with expectations")
struct FeedCorpusTests {
    /// Corpus documents for which the parser's result differs from the expectation, with the reason.
    private static let different: [(name: String, reason: String)] = [
        ("encoding/http_text_", "the default of text/xml is no longer US-ASCII (RFC 7303 §3)"),
        ("_crazy.xml", "an unbalanced end tag of a script must not show the content of a script"),
        ("svg", "elements of SVG are closed"),
        ("illformed/chardet/", "an encoding that is not declared is not guessed"),
        ("not_a_doctype2", "'<' that starts no tag is written as a reference"),
        ("not_a_doctype.xml", "an element without an end tag gets one"),
        ("amp/attr0", "'&' in an attribute is written as '&amp;', however the feed writes it"),
        ("element_noscript", "browsers that run scripts read the content of 'noscript' as text"),
    ]

    @Test("The documents of the corpus give the expected values")
    func corpus() throws {
        guard let folder = FeedCorpus.folder else {
            return print("SKIPPED: no shared/data/feeds next to this checkout")
        }
        var rows: [String: (passed: Int, failed: Int, unsupported: Int)] = [:]
        var failures: [String] = []
        for document in FeedCorpus.cases(in: folder) {
            let directory = document.path.split(separator: "/").dropLast().joined(separator: "/")
            var row = rows[directory] ?? (0, 0, 0)
            switch document.run() {
            case .passed: row.passed += 1
            case .unsupported: row.unsupported += 1
            case .failed(let reason):
                row.failed += 1
                failures.append("\(document.path): \(reason)")
            }
            rows[directory] = row
        }
        for (directory, row) in rows.sorted(by: { $0.key < $1.key }) {
            print(
                "\(directory): \(row.passed) as expected, \(row.failed) different, \(row.unsupported) about other values"
            )
        }
        let wellFormed = rows.filter { !$0.key.hasPrefix("illformed") }.values
        let (passed, failed) = (wellFormed.reduce(0) { $0 + $1.passed }, wellFormed.reduce(0) { $0 + $1.failed })
        #expect(passed > 1000)
        #expect(failed * 50 <= passed + failed, "98 % of the well-formed documents")
        for failure in failures where !Self.different.contains(where: { failure.contains($0.name) }) {
            Issue.record("\(failure)")
        }
    }

    @Test("F4: each malformed document of the corpus gives a feed with problems or an error")
    func malformed() throws {
        guard let folder = FeedCorpus.folder else {
            return print("SKIPPED: no shared/data/feeds next to this checkout")
        }
        let documents = FeedCorpus.cases(in: folder).filter { $0.path.hasPrefix("illformed") }
        #expect(!documents.isEmpty)
        for document in documents where document.expectation.hasPrefix("bozo") {
            do {
                let feed = try Feed(parsing: document.data, source: document.source)
                #expect(!feed.problems.isEmpty, "\(document.path)")
                #expect(feed.problems.allSatisfy { $0.line > 0 && $0.column > 0 && !$0.message.isEmpty })
            } catch {
                #expect(!error.message.isEmpty, "\(document.path)")
            }
        }
    }

    @Test("Every prefix of a document gives a feed or an error, and never more items")
    func prefixes() throws {
        let document = Data(
            "<rss version='2.0'><channel><title>a</title><item><title>b &amp; c</title></item><item><link>d</link></item></channel></rss>"
                .utf8)
        for count in 0...document.count {
            guard let feed = try? Feed(parsing: document.prefix(count)) else { continue }
            #expect(feed.items.count <= 2)
            #expect(feed.isWellFormed == (count == document.count))
        }
    }
}
