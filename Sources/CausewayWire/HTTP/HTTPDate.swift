/// Parses and formats HTTP dates (RFC 9110 §5.6.7), as seconds since 1970-01-01 00:00:00 UTC.
package enum HTTPDate {
    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let longWeekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    static let secondsPerDay = 86_400

    /// The times in the years 0 to 9999.
    private static let writable =
        days(year: 0, month: 1, day: 1) * secondsPerDay..<days(year: 10_000, month: 1, day: 1) * secondsPerDay

    /// Returns the date as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`. Times outside the years 0 to 9999 are
    /// clamped to this range.
    package static func text(_ seconds: Int) -> String {
        let seconds = clamped(seconds)
        let (day, time) = floorDivide(seconds, by: secondsPerDay)
        let date = civil(day)
        // 1970-01-01 was a Thursday.
        let weekday = weekdays[floorDivide(day + 3, by: 7).remainder]
        var text: [UInt8] = []
        text.reserveCapacity(29)
        text.append(contentsOf: weekday.utf8)
        text.append(contentsOf: ", ".utf8)
        append(date.day, followedBy: " ", to: &text)
        text.append(contentsOf: months[date.month - 1].utf8)
        text.append(HTTPCharacters.space)
        append(date.year / 100, to: &text)
        append(date.year % 100, followedBy: " ", to: &text)
        append(time / 3600, followedBy: ":", to: &text)
        append(time / 60 % 60, followedBy: ":", to: &text)
        append(time % 60, followedBy: " GMT", to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func clamped(_ seconds: Int) -> Int { min(max(seconds, writable.lowerBound), writable.upperBound - 1) }

    /// Appends two digits and a text.
    private static func append(_ number: Int, followedBy end: String = "", to text: inout [UInt8]) {
        text.append(UInt8(0x30 + number / 10 % 10))
        text.append(UInt8(0x30 + number % 10))
        text.append(contentsOf: end.utf8)
    }

    private static func floorDivide(_ value: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Returns the days from 1970-01-01 to a Gregorian date.
    ///
    /// Years begin in March here, so that the leap day is the last day of a year.
    package static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let leapDays =
            floorDivide(shifted, by: 4).quotient - floorDivide(shifted, by: 100).quotient
            + floorDivide(shifted, by: 400).quotient
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        // From March on, the months have 31, 30, 31, 30 and 31 days, and this pattern repeats. Five months have 153
        // days.
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        // 719,468 days lie between 0000-03-01 and 1970-01-01.
        return 365 * shifted + leapDays + dayOfYear - 719_468
    }

    /// Returns the date for a day counted from 1970-01-01.
    static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = floorDivide(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// Returns the number of days in a month.
    package static func dayCount(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
