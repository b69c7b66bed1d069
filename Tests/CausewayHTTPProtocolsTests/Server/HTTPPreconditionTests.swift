import CausewayHTTPProtocols
import CausewayWire
import Testing

@Suite("Conditional requests and ranges (RFC 9110 §13, §14)")
struct HTTPPreconditionTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let now = 1_000_000_000

    private static func fields(_ pairs: [(String, String)]) -> FieldSection {
        var fields = FieldSection()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var method = "GET"
        let fields: [(String, String)]
        let outcome: HTTPPreconditions.Outcome
        var testDescription: String { "\(method) \(fields) \(outcome)" }
    }

    static let rows: [Row] = [
        Row(fields: [], outcome: .proceed),
        Row(fields: [("If-Match", "\"a\"")], outcome: .proceed),
        Row(fields: [("If-Match", "*")], outcome: .proceed),
        Row(fields: [("If-Match", "\"x,y\", \"a\"")], outcome: .proceed),
        Row(fields: [("If-Match", "\"x\"")], outcome: .failed),
        Row(fields: [("If-Match", "W/\"a\"")], outcome: .failed),
        Row(fields: [("If-Match", "nonsense")], outcome: .failed),
        Row(fields: [("If-Unmodified-Since", date)], outcome: .proceed),
        Row(fields: [("If-Unmodified-Since", earlier)], outcome: .failed),
        Row(fields: [("If-Match", "\"a\""), ("If-Unmodified-Since", earlier)], outcome: .proceed),
        Row(fields: [("If-None-Match", "\"a\"")], outcome: .notModified),
        Row(fields: [("If-None-Match", "W/\"a\"")], outcome: .notModified),
        Row(fields: [("If-None-Match", "\"x\"")], outcome: .proceed),
        Row(fields: [("If-None-Match", "*")], outcome: .notModified),
        Row(method: "PUT", fields: [("If-None-Match", "*")], outcome: .failed),
        Row(fields: [("If-None-Match", "\"x\""), ("If-Modified-Since", later)], outcome: .proceed),
        Row(fields: [("If-Modified-Since", date)], outcome: .notModified),
        Row(fields: [("If-Modified-Since", earlier)], outcome: .proceed),
        Row(fields: [("If-Modified-Since", "yesterday")], outcome: .proceed),
        Row(method: "POST", fields: [("If-Modified-Since", date)], outcome: .proceed),
    ]

    // Conditions in requests: RFC 9110 §13.1.1-13.1.4.
    @Test("The order of RFC 9110 §13.2.2", arguments: rows)
    func evaluates(_ row: Row) {
        let validators = HTTPValidators(Self.fields([("ETag", "\"a\""), ("Last-Modified", Self.date)]), now: Self.now)
        #expect(
            HTTPPreconditions.evaluate(Self.fields(row.fields), method: row.method, validators, now: Self.now)
                == row.outcome)
    }

    @Test("Without a representation, If-Match fails and If-None-Match holds")
    func missing() {
        #expect(HTTPPreconditions.evaluate(Self.fields([("If-Match", "*")]), method: "PUT", nil, now: 0) == .failed)
        #expect(
            HTTPPreconditions.evaluate(Self.fields([("If-None-Match", "*")]), method: "PUT", nil, now: 0) == .proceed)
    }

    struct RangeRow: Sendable, CustomTestStringConvertible {
        var method = "GET"
        let fields: [(String, String)]
        let selection: RangeSelection
        var testDescription: String { "\(method) \(fields)" }
    }

    static let ranges: [RangeRow] = [
        RangeRow(fields: [], selection: .whole),
        RangeRow(fields: [("Range", "bytes=0-9")], selection: .parts([0..<10])),
        RangeRow(fields: [("Range", "bytes=990-")], selection: .parts([990..<1_000])),
        RangeRow(fields: [("Range", "bytes=-5")], selection: .parts([995..<1_000])),
        RangeRow(fields: [("Range", "bytes=-5000")], selection: .parts([0..<1_000])),
        RangeRow(fields: [("Range", "bytes=1000-")], selection: .unsatisfiable),
        RangeRow(fields: [("Range", "bytes=-0")], selection: .unsatisfiable),
        RangeRow(fields: [("Range", "bytes=500-0")], selection: .whole),
        RangeRow(fields: [("Range", "lines=0-1")], selection: .whole),
        RangeRow(fields: [("Range", "bytes=0-0,500-509,1000-")], selection: .parts([0..<1, 500..<510])),
        RangeRow(fields: [("Range", "bytes=500-509,0-0")], selection: .parts([500..<510, 0..<1])),
        RangeRow(fields: [("Range", "bytes=0-99,50-149")], selection: .parts([0..<150])),
        RangeRow(fields: [("Range", "bytes=0-9,20-29")], selection: .parts([0..<30])),
        RangeRow(method: "HEAD", fields: [("Range", "bytes=0-9")], selection: .whole),
        RangeRow(fields: [("Range", "bytes=0-9"), ("If-Range", "\"a\"")], selection: .parts([0..<10])),
        RangeRow(fields: [("Range", "bytes=0-9"), ("If-Range", "\"b\"")], selection: .whole),
        RangeRow(fields: [("Range", "bytes=0-9"), ("If-Range", "W/\"a\"")], selection: .whole),
        RangeRow(fields: [("Range", "bytes=0-9"), ("If-Range", date)], selection: .parts([0..<10])),
        RangeRow(fields: [("Range", "bytes=0-9"), ("If-Range", later)], selection: .whole),
    ]

    // RFC 9110 §13.1.5, §14.1.1, §14.1.2, §17.15.
    @Test("Ranges of 1,000 bytes", arguments: ranges)
    func selects(_ row: RangeRow) {
        let validators = HTTPValidators(Self.fields([("ETag", "\"a\""), ("Last-Modified", Self.date)]), now: Self.now)
        let selection = RangeSelection(
            Self.fields(row.fields), method: row.method, validators, length: 1_000, now: Self.now)
        #expect(selection == row.selection)
    }
}
