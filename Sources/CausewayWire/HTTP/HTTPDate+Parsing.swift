extension HTTPDate {
    /// Parses a date in any format that recipients must accept: IMF-fixdate, RFC 850, asctime.
    ///
    /// The day of the week must be a valid name, but need not match the date, because some servers send a wrong day.
    ///
    /// - Parameter now: The current time, in seconds since 1970. A date with a two-digit year is interpreted as at most 50 years after this
    ///   time.
    /// - Returns: Seconds since 1970; `nil` if the text has another format or the date does not exist.
    package static func seconds(parsing bytes: ArraySlice<UInt8>, now: Int) -> Int? {
        if let usual = FixedDate.seconds(bytes.span) { return usual }
        let text = HTTPCharacters.trimmed(bytes)
        var reader = DateReader(rest: text)
        // Of the three date formats, only IMF-fixdate has a comma after three letters.
        if text.dropFirst(3).first == UInt8(ascii: ",") {
            return reader.takeName(weekdays) != nil && reader.take(",") ? reader.fixdate() : nil
        }
        if reader.takeName(longWeekdays) != nil, reader.take(",") {
            return reader.rfc850(now: clamped(now))
        }
        reader = DateReader(rest: text)
        return reader.takeName(weekdays) != nil ? reader.asctime() : nil
    }

    /// Parses a date. See ``seconds(parsing:now:)-(ArraySlice<UInt8>,_)``.
    package static func seconds(parsing text: String, now: Int) -> Int? {
        seconds(parsing: Array(text.utf8)[...], now: now)
    }
}

/// A cursor over a date's text.
private struct DateReader {
    var rest: ArraySlice<UInt8>

    /// Reads ` 06 Nov 1994 08:49:37 GMT`, the text after the comma.
    mutating func fixdate() -> Int? {
        guard take(" "), let day = number(2), take(" "), let month = takeName(HTTPDate.months), take(" "),
            let year = number(4), take(" "), let time = time(), takeZone(), rest.isEmpty
        else { return nil }
        return seconds(year, month + 1, day, time)
    }

    /// Reads ` 06-Nov-94 08:49:37 GMT`, the text after the comma.
    mutating func rfc850(now: Int) -> Int? {
        guard take(" "), let day = number(2), take("-"), let month = takeName(HTTPDate.months), take("-"),
            let year = number(2), take(" "), let time = time(), takeZone(), rest.isEmpty
        else { return nil }
        let current = HTTPDate.civil(now / HTTPDate.secondsPerDay).year
        var full = current - current % 100 + year
        if full < current - 49 { full += 100 }
        guard var result = seconds(full, month + 1, day, time) else { return nil }
        // If a two-digit year would be more than 50 years in the future, it means the same year one century earlier
        // (RFC 9110 §5.6.7).
        let limit = HTTPDate.civil(now / HTTPDate.secondsPerDay)
        let latest = HTTPDate.days(year: limit.year + 50, month: limit.month, day: limit.day) * HTTPDate.secondsPerDay
        if result > latest + now % HTTPDate.secondsPerDay {
            guard let earlier = seconds(full - 100, month + 1, day, time) else { return nil }
            result = earlier
        }
        return result
    }

    /// Reads the rest of an asctime date after the day of the week, such as ` Nov 6 08:49:37 1994`.
    mutating func asctime() -> Int? {
        guard take(" "), let month = takeName(HTTPDate.months), take(" ") else { return nil }
        guard let day = take(" ") ? number(1) : number(2) else { return nil }
        guard take(" "), let time = time(), take(" "), let year = number(4), rest.isEmpty else { return nil }
        return seconds(year, month + 1, day, time)
    }

    /// Reads `08:49:37`. Returns the seconds since midnight. A leap second counts as the first second of the next minute.
    private mutating func time() -> Int? {
        guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int? {
        guard day >= 1, day <= HTTPDate.dayCount(year: year, month: month) else { return nil }
        return HTTPDate.days(year: year, month: month, day: day) * HTTPDate.secondsPerDay + time
    }

    mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Reads the time zone. Only GMT is valid, in upper or lower case (RFC 9111 §4.2).
    private mutating func takeZone() -> Bool {
        guard HTTPCharacters.areEqual(rest.prefix(4), " GMT") else { return false }
        rest = rest.dropFirst(4)
        return true
    }

    /// Reads one of `names`, ignoring case. Returns its index.
    mutating func takeName(_ names: [String]) -> Int? {
        for (index, name) in names.enumerated()
        where HTTPCharacters.areEqual(rest.prefix(name.utf8.count), name) {
            rest = rest.dropFirst(name.utf8.count)
            return index
        }
        return nil
    }

    private mutating func number(_ digitCount: Int) -> Int? {
        let digits = rest.prefix(digitCount)
        guard digits.count == digitCount, digits.allSatisfy(HTTPCharacters.isDigit) else { return nil }
        rest = rest.dropFirst(digitCount)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
