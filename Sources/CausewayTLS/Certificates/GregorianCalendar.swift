/// Conversions between dates and day numbers. Day 0 is 1970-01-01.
enum GregorianCalendar {
    private static let daysPer400Years = 146_097

    /// Returns the day number of a date. `year` is 0 or later, `month` 1 to 12.
    static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Count each year from March, so that a leap day is the year's last day. Add 400 years, so that the quotients
        // are not negative.
        let shifted = (month > 2 ? year : year - 1) + 400
        let monthFromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468 - daysPer400Years
    }

    /// Returns the number of days in a month. `year` is 0 or later, `month` 1 to 12.
    static func dayCount(_ year: Int, _ month: Int) -> Int {
        let next = month == 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1)
        return next - dayNumber(year, month, 1)
    }

    /// Returns the date of a day in the years 0 to 9999.
    static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        // The division by the average length of a year gives the right year, or a year that is wrong by one. The next
        // two lines correct this.
        var year = (number - dayNumber(0, 1, 1)) * 400 / daysPer400Years
        if dayNumber(year, 1, 1) > number { year -= 1 }
        if dayNumber(year + 1, 1, 1) <= number { year += 1 }
        let month = (1...12).last { dayNumber(year, $0, 1) <= number } ?? 1
        return (year, month, number - dayNumber(year, month, 1) + 1)
    }
}
