import CausewayLines
import FoundationEssentials
import Testing

/// Tests the line decoder with all line ends, byte by byte and with arbitrary splits.
@Suite("Lines")
struct LineDecoderTests {
    private static let longest = String(repeating: "x", count: LineFormat.limit)

    static let streams: [(text: String, lines: [String], problem: LineProblem?)] = [
        ("", [], nil),
        ("a\r\nb\r\n", ["a", "b"], nil),
        ("\r\n\n", ["", ""], nil),
        ("a\nb\r\n", ["a", "b"], nil),
        ("a\rb\r\r\n", ["a\rb\r"], nil),
        ("\(longest)\r\n\(longest)\n", [longest, longest], nil),
        ("a\r\n\(longest)x\r\nb\r\n", ["a"], .tooLong),
        ("\(longest)x\n", [], .tooLong),
        ("\(longest)\r", [], .unfinished),
        ("a\r\nb", ["a"], .unfinished),
        ("a\r\nb\r", ["a"], .unfinished),
    ]

    private static func decode(_ text: String, pieces: Int) -> (lines: [String], problem: LineProblem?) {
        var decoder = LineDecoder()
        var lines: [String] = []
        do throws(LineProblem) {
            var rest = Data(text.utf8)
            while true {
                while let line = try decoder.next() { lines.append(String(decoding: line, as: UTF8.self)) }
                if rest.isEmpty { break }
                decoder.append(Data(rest.prefix(pieces)))
                rest = Data(rest.dropFirst(pieces))
            }
            try decoder.finish()
            return (lines, nil)
        } catch {
            return (lines, error)
        }
    }

    @Test("A stream with any fragmentation is split into lines", arguments: streams.indices)
    func decoding(_ index: Int) {
        let stream = Self.streams[index]
        for pieces in [1, 2, 3, 1_000, 1_024, 1_025, 1_026, 1_027, 100_000] {
            let (lines, problem) = Self.decode(stream.text, pieces: pieces)
            #expect(lines == stream.lines && problem == stream.problem, "in pieces of \(pieces)")
        }
    }
}
