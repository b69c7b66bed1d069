import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Downloads in parts")
struct PartialDownloadTests {
    private func fields(_ pairs: [(String, String)]) -> FieldSection {
        var fields = FieldSection()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    private let tagged = [("ETag", "\"v1\""), ("Content-Length", "100")]

    private func begun(received count: Int = 40) -> PartialDownload {
        var download = PartialDownload()
        #expect(download.answered(status: 200, fields: fields(tagged), now: 0) == .whole)
        download.received(count)
        return download
    }

    @Test("The first request has no range; the next asks for the rest of the same version")
    func prepares() {
        var none = FieldSection()
        PartialDownload().prepare(&none)
        #expect(none.isEmpty)
        var request = FieldSection()
        begun().prepare(&request)
        #expect(request.firstValue(of: "Range") == "bytes=40-" && request.firstValue(of: "If-Range") == "\"v1\"")
    }

    struct Row: Sendable {
        var status: Int
        var fields: [(String, String)]
        var answer: PartialDownload.Answer
        var position: Int
    }

    static let rows = [
        Row(status: 206, fields: [("Content-Range", "bytes 40-99/100")], answer: .rest, position: 40),
        Row(status: 206, fields: [("Content-Range", "bytes 40-99/*")], answer: .rest, position: 40),
        Row(status: 206, fields: [("Content-Range", "bytes 40-59/100")], answer: .rest, position: 40),
        Row(
            status: 206, fields: [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\"")], answer: .rest, position: 40
        ),
        Row(
            status: 206, fields: [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v2\"")], answer: .mismatch,
            position: 0),
        Row(status: 206, fields: [("Content-Range", "bytes 41-99/100")], answer: .mismatch, position: 0),
        Row(status: 206, fields: [("Content-Range", "bytes 40-100/101")], answer: .mismatch, position: 0),
        Row(status: 206, fields: [], answer: .mismatch, position: 0),
        Row(
            status: 206, fields: [("Content-Range", "bytes 40-99/100"), ("Content-Range", "bytes 0-9/100")],
            answer: .mismatch, position: 0),
        Row(status: 200, fields: [("ETag", "\"v2\"")], answer: .whole, position: 0),
        Row(status: 416, fields: [("Content-Range", "bytes */100")], answer: .mismatch, position: 0),
        Row(status: 404, fields: [], answer: .refused, position: 40),
        Row(status: 503, fields: [], answer: .refused, position: 40),
        Row(status: 304, fields: [], answer: .refused, position: 40),
    ]

    // Responses to range requests: RFC 9110 §15.3.7.1.
    @Test("An answer continues, replaces or refuses the content", arguments: rows)
    func answers(_ row: Row) {
        var download = begun()
        #expect(download.answered(status: row.status, fields: fields(row.fields), now: 0) == row.answer)
        #expect(download.position == row.position)
    }

    @Test(
        "A length with a sign is not a length",
        arguments: [("100", 100), ("+100", nil), ("-0", nil)] as [(String, Int?)])
    func signedLength(_ text: String, _ length: Int?) {
        var download = PartialDownload()
        _ = download.answered(status: 200, fields: fields([("ETag", "\"v1\""), ("Content-Length", text)]), now: 0)
        #expect(download.length == length)
    }

    @Test("Entity tags are compared by their bytes", arguments: ["\"\u{301}1\"", "\"e\u{301}\""])
    func tagBytes(_ tag: String) {
        let range = ("Content-Range", "bytes 40-99/100")
        for (other, answer) in [
            (tag, PartialDownload.Answer.rest), ("\"\u{301}2\"", .mismatch), ("\"\u{E9}\"", .mismatch),
        ] {
            var download = PartialDownload(position: 40, validator: tag, length: 100)
            #expect(download.answered(status: 206, fields: fields([range, ("ETag", other)]), now: 0) == answer)
        }
    }

    @Test("Content that is already complete is not requested again")
    func complete() {
        var download = begun(received: 100)
        let range = fields([("Content-Range", "bytes */100")])
        #expect(download.answered(status: 416, fields: range, now: 0) == .complete)
        #expect(download.position == 100)
    }

    @Test("A range that was not requested is refused, so that no answer repeats for ever")
    func unaskedRange() {
        var download = PartialDownload()
        let range = fields([("Content-Range", "bytes 0-99/100"), ("ETag", "\"v1\"")])
        #expect(download.answered(status: 206, fields: range, now: 0) == .refused)
    }

    static let validators: [([(String, String)], String?)] = [
        ([("ETag", "\"v\"")], "\"v\""), ([("ETag", "W/\"v\"")], nil), ([("ETag", "v")], nil),
        (
            [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:38 GMT")],
            "Sun, 06 Nov 1994 08:49:37 GMT"
        ),
        ([("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")], nil),
        ([("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")], nil), ([], nil),
    ]

    // Validators of partial content: RFC 9110 §8.8.1, §13.1.5.
    @Test("Only strong validators connect ranges; without one, nothing is kept", arguments: validators)
    func strength(_ pairs: [(String, String)], _ validator: String?) {
        var download = PartialDownload()
        _ = download.answered(status: 200, fields: fields(pairs), now: 0)
        #expect(download.validator == validator)
        #expect(PartialDownload(position: 9, validator: validator).position == (validator == nil ? 0 : 9))
    }
}
