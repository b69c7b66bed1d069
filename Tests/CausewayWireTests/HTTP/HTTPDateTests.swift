import Testing

@testable import CausewayWire

@Suite("Dates (RFC 9110 §5.6.7)")
struct HTTPDateTests {
    /// The current time in these tests: 2026-11-26 00:00:00 UTC.
    private static let now = 1_795_651_200

    static let dates: [(String, Int)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Thu Nov 26 00:00:00 2026", now), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        // Dates with different letter case, a wrong day of the week, or surrounding white space.
        ("sun, 06 nov 1994 08:49:37 GMT", 784_111_777), ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        (" Sun, 06 Nov 1994 08:49:37 GMT\t", 784_111_777),
        // Each date here has a two-digit year. The parsed date must be at most 50 years in the future.
        ("Thursday, 26-Nov-76 00:00:00 GMT", 3_373_574_400), ("Friday, 26-Nov-76 00:00:01 GMT", 217_814_401),
        ("Saturday, 26-Nov-77 00:00:00 GMT", 249_350_400), ("Tuesday, 01-Jan-19 00:00:00 GMT", 1_546_300_800),
    ]

    @Test("Dates in the three formats", arguments: dates)
    func parsing(_ row: (String, Int)) {
        #expect(HTTPDate.seconds(parsing: row.0, now: Self.now) == row.1)
    }

    static let malformed = [
        "", "now", "0", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT+1",
        "Son, 06 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
        // Each of these dates has one wrong character, which differs from the correct character in a single bit.
        "Sun, 06 Nov 1994 08:49:3w GMT", "3un, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37\u{0}GMT",
    ]

    @Test("Text that is not a date", arguments: malformed)
    func refused(_ text: String) {
        #expect(HTTPDate.seconds(parsing: text, now: Self.now) == nil)
    }

    @Test("Dates are written as IMF-fixdate")
    func writing() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.text(.min) == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test("A written date is parsed to the same second")
    func roundTrip() {
        // Two consecutive test dates are about 23 days apart. They cover all months and times of day over more than 400
        // years.
        for seconds in stride(from: -11_676_096_000, to: 8_000_000_000, by: 2_000_003) {
            #expect(HTTPDate.seconds(parsing: HTTPDate.text(seconds), now: 0) == seconds)
        }
    }

    /// The current time of the clock, and the result that a date with a two-digit year must have.
    ///
    /// A current time before the year 0 counts as the first second of the year 0. A current time after the year 9999
    /// counts as the last second of the year 9999. In the first row, the year 94 would be more than 50 years in the
    /// future. So the date is in the year -6.
    static let extremeTimes: [(now: Int, seconds: Int)] = [
        (.min, -62_329_792_223), (-1, 784_111_777), (0, 784_111_777), (.max, 253_239_727_777),
    ]

    @Test("A two-digit year is interpreted at extreme times of the clock", arguments: extremeTimes)
    func extremes(_ row: (now: Int, seconds: Int)) {
        #expect(HTTPDate.seconds(parsing: "Sunday, 06-Nov-94 08:49:37 GMT", now: row.now) == row.seconds)
    }
}
