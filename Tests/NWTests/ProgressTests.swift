import CausewayTypes
import Foundation
import Testing

@testable import nw

/// Tests the line that shows a transfer's progress.
@Suite("Progress on a terminal")
struct ProgressTests {
    static let names = [
        "a", "a.iso", String(repeating: "n", count: 60), "東京の写真と映像の記録をまとめた文書.zip", "e\u{301}te\u{301}.txt",
        "👩‍👩‍👧 family 🇫🇷.jpg",
        "tab\tand\u{1B}[2Jescape",
    ]

    @Test("The line fits on terminals of every width, with names of every kind", arguments: names)
    func fits(_ name: String) {
        for count: UInt64? in [nil, 0, 1_000_000] {
            var bar = ProgressBar(name, byteCount: count, isWanted: false)
            bar.advance(to: 999_999)
            for columns in [1, 10, 20, 40, 60, 79, 80, 200] {
                let line = bar.line(columns: columns, after: .seconds(1)).text
                #expect(line.columnCount < max(2, columns), "\(columns): \(line)")
                #expect(!line.contains("\n") && !line.contains("\u{1B}"))
            }
        }
    }

    @Test("On 80 columns, all bars begin in the same column", arguments: names)
    func aligned(_ name: String) throws {
        var bar = ProgressBar(name, byteCount: 100, isWanted: false)
        bar.advance(to: 50)
        let line = bar.line(columns: 80, after: .seconds(1)).text
        let place = try #require(line.lastIndex(of: "["))
        #expect(line[..<place].columnCount == 31 && line.hasSuffix("] 50% 50 bytes/s"), "\(line)")
    }

    @Test(
        "Columns",
        arguments: [("abc", 3), ("東京", 4), ("e\u{301}", 1), ("🇫🇷", 2), ("👩‍👩‍👧", 2), ("한글", 4), ("ｆ", 2), ("é", 1), ("", 0)])
    func columns(_ text: String, _ expected: Int) {
        #expect(text.columnCount == expected)
        #expect(text.prefix(columns: expected) == text[...])
        if expected > 0 { #expect(text.prefix(columns: expected - 1).columnCount < expected) }
    }
}
