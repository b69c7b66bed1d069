import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Cookie dates (RFC 6265 §5.1.1)")
struct CookieDateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String { text }
        var text: String
        /// The date in the format of RFC 9110; `nil` if the text is not a valid date.
        var date: String?
    }

    @Test(
        "Dates",
        arguments: [
            Row(text: "Thu, 01 Jan 1970 00:00:00 GMT", date: "Thu, 01 Jan 1970 00:00:00 GMT"),
            Row(text: "Wed, 09 Jun 2021 10:18:14 GMT", date: "Wed, 09 Jun 2021 10:18:14 GMT"),
            Row(text: "Wednesday, 09-Jun-21 10:18:14 GMT", date: "Wed, 09 Jun 2021 10:18:14 GMT"),
            Row(text: "Wed Jun  9 10:18:14 2021", date: "Wed, 09 Jun 2021 10:18:14 GMT"),
            Row(text: "2021 june 9 10:18:14.999 +0200", date: "Wed, 09 Jun 2021 10:18:14 GMT"),
            Row(text: "9 Jun 99 1:2:3", date: "Wed, 09 Jun 1999 01:02:03 GMT"),
            Row(text: "9 Jun 70 1:2:3", date: "Tue, 09 Jun 1970 01:02:03 GMT"),
            Row(text: "9 Jun 69 1:2:3", date: "Sun, 09 Jun 2069 01:02:03 GMT"),
            Row(text: "29 Feb 2024 00:00:00", date: "Thu, 29 Feb 2024 00:00:00 GMT"),
            Row(text: "29 Feb 2000 00:00:00", date: "Tue, 29 Feb 2000 00:00:00 GMT"),
            Row(text: "31 Dec 9999 23:59:59", date: "Fri, 31 Dec 9999 23:59:59 GMT"),
            Row(text: "1 Jan 1601 00:00:00", date: "Mon, 01 Jan 1601 00:00:00 GMT"),
            Row(text: "29 Feb 2023 00:00:00", date: nil),
            Row(text: "29 Feb 1900 00:00:00", date: nil),
            Row(text: "31 Apr 2024 00:00:00", date: nil),
            Row(text: "0 Jan 2024 00:00:00", date: nil),
            Row(text: "32 Jan 2024 00:00:00", date: nil),
            Row(text: "1 Jan 1600 00:00:00", date: nil),
            Row(text: "1 Jan 2024 24:00:00", date: nil),
            Row(text: "1 Jan 2024 00:60:00", date: nil),
            Row(text: "1 Jan 2024 00:00:60", date: nil),
            Row(text: "1 Jan 2024 00:00", date: nil),
            Row(text: "1 Jan 20245 00:00:00", date: nil),
            Row(text: "Jan 2024 00:00:00", date: nil),
            Row(text: "99999999999999999999 Jan 2024 00:00:00", date: nil),
            Row(text: "", date: nil),
        ])
    func rows(row: Row) {
        #expect(CookieDate.parse(row.text.utf8).map { HTTPDate.text(Int($0)) } == row.date)
    }

    @Test("Vectors of the http-state working group", arguments: ["examples", "bsd-examples"])
    func vectors(name: String) throws {
        for object in try HTTPVectors.objects("http-state/dates/\(name).json") {
            let text = try #require(object["test"] as? String)
            let date = CookieDate.parse(text.utf8).map { HTTPDate.text(Int($0)) }
            #expect(date == object["expected"] as? String, "\(text)")
        }
    }
}
