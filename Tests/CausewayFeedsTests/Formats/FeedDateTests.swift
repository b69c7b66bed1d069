import CausewayMarkup
import Foundation
import Testing

@Suite("Dates of feeds")
struct FeedDateTests {
    @Test(
        "F2: dates of RFC 822, RFC 3339 and of the wild are read in every locale",
        arguments: [
            ("Thu, 01 Jan 2004 19:48:21 GMT", 1_072_986_501.0), ("Thu, 01 Jan 2004 19:48:21 +0100", 1_072_982_901),
            ("Thu, 01 Jan 04 19:48 EST", 1_073_004_480), ("1 January 2004 19:48:21 Z", 1_072_986_501),
            ("Thursday, January 1, 2004 7:48:21 PM", 1_072_986_501), ("Sun Jan  4 16:29:06 PST 2004", 1_073_262_546),
            ("Sun Jan 4 16:29:06 2004", 1_073_233_746), ("2003-12-31T10:14:55Z", 1_072_865_695),
            ("2003-12-31T10:14:55.5+01:00", 1_072_862_095.5),
            ("2003-12-31T10:14:55-0800", 1_072_894_495), ("2003-12-31 10:14:55", 1_072_865_695),
            ("2003-12-31T10:14", 1_072_865_640),
            ("2003-12-31", 1_072_828_800), ("2003-12", 1_070_236_800), ("2003", 1_041_379_200),
            ("20031231", 1_072_828_800),
            ("2003-365", 1_072_828_800), ("2004/09/14 23:17:06", 1_095_203_826), ("31.12.2003 10:14", 1_072_865_640),
            ("12/31/2003 10:14:55", 1_072_865_695), ("20031231101455", 1_072_865_695),
            ("Fri, 29 Feb 2008 00:00:00 +0530", 1_204_223_400),
        ])
    func reads(text: String, seconds: Double) throws {
        #expect(try #require(FeedDate(text).date).timeIntervalSince1970 == seconds)
    }

    @Test(
        "F2: what is no date is tolerated",
        arguments: [
            "", "yesterday", "32 Jan 2004", "2003-13-45", "99999999999999999999999", "Thu, 01 Foo 2004", "--",
            "2004-01-01T99:00:00Z",
        ])
    func tolerates(text: String) {
        let date = FeedDate(text)
        #expect(date.text == text)
        #expect(date.date == nil)
    }
}
