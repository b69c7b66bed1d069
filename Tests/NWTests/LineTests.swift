import CausewayLines
import Foundation
import Testing

@testable import nw

/// Tests how `nw chat` splits its input into lines, for any fragmentation.
@Suite("Lines")
struct LineTests {
    private static let longest = String(repeating: "x", count: LineFormat.limit)

    @Test("Input is split into lines, and lines that are too long are reported with their length")
    func typing() {
        let text = "a\n\(Self.longest)\r\n\(Self.longest)x\nb\r\n\nc"
        for pieces in [1, 7, 100_000] {
            var typed = TypedLines()
            var entries: [TypedLines.Entry] = []
            var rest = Data(text.utf8)
            while !rest.isEmpty {
                entries += typed.append(Data(rest.prefix(pieces)))
                rest = Data(rest.dropFirst(pieces))
            }
            if let last = typed.last() { entries.append(last) }
            #expect(
                entries == [
                    .line(Data("a".utf8)), .line(Data(Self.longest.utf8)), .tooLong(LineFormat.limit + 1),
                    .line(Data("b".utf8)), .line(Data()), .line(Data("c".utf8)),
                ])
        }
    }
}
