/// Reads a date in IMF-fixdate format, `Sun, 06 Nov 1994 08:49:37 GMT`, from fixed positions. Nearly all dates have
/// this format, and parsing them with a cursor over a slice would take ten times as long.
enum FixedDate {
    private static let byteCount = 29
    private static let weekdays = HTTPDate.weekdays.map { code($0) }
    private static let months = HTTPDate.months.map { code($0) }

    /// Returns the seconds since 1970; `nil` if the text has another format, even if HTTP permits that format.
    static func seconds(_ text: borrowing Span<UInt8>) -> Int? {
        guard text.count == byteCount, text[3] == HTTPCharacters.comma, text[19] == HTTPCharacters.colon,
            text[22] == HTTPCharacters.colon, areSpaces(text, 4, 7, 11), areSpaces(text, 16, 25, 25),
            code(text, at: 26) == zone, weekdays.contains(code(text, at: 0)),
            let month = months.firstIndex(of: code(text, at: 8)), let day = number(text, at: 5),
            let century = number(text, at: 12), let year = number(text, at: 14), let hour = number(text, at: 17),
            let minute = number(text, at: 20), let second = number(text, at: 23), hour < 24, minute < 60, second <= 60
        else { return nil }
        let full = century * 100 + year
        guard day >= 1, day <= HTTPDate.dayCount(year: full, month: month + 1) else { return nil }
        return HTTPDate.days(year: full, month: month + 1, day: day) * HTTPDate.secondsPerDay + hour * 3600
            + minute * 60 + second
    }

    private static let zone = code("GMT")

    private static func areSpaces(_ text: borrowing Span<UInt8>, _ one: Int, _ two: Int, _ three: Int) -> Bool {
        text[one] == HTTPCharacters.space && text[two] == HTTPCharacters.space && text[three] == HTTPCharacters.space
    }

    /// Returns three letters as a number, ignoring case.
    private static func code(_ text: borrowing Span<UInt8>, at start: Int) -> UInt32 {
        letter(text[start]) << 16 | letter(text[start + 1]) << 8 | letter(text[start + 2])
    }

    private static func code(_ name: String) -> UInt32 { code(name.utf8.span, at: 0) }

    /// Returns a letter in lower case; 0 for any other character. The names of days and months contain only letters.
    private static func letter(_ byte: UInt8) -> UInt32 {
        let lower = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) ? UInt32(lower) : 0
    }

    private static func number(_ text: borrowing Span<UInt8>, at start: Int) -> Int? {
        let (tens, ones) = (text[start] &- 0x30, text[start + 1] &- 0x30)
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
    }
}
