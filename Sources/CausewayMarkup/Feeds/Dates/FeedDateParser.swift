package import FoundationEssentials

/// Parses feed dates: RFC 822, RFC 3339, the W3C profile of ISO 8601, `asctime`, and other forms found in feeds.
///
/// The result does not depend on the locale. A date without a zone is in UTC.
package enum FeedDateParser {
    /// Parses a date; `nil` if the text has no known form.
    package static func date(_ text: String) -> Date? {
        let tokens = DateTokens(text)
        var fields = DateFields()
        var read = tokens.startsWithYear ? fields.readNumeric(tokens) : fields.readWords(tokens)
        if !read, tokens.startsWithYear {
            fields = DateFields()
            read = fields.readWords(tokens)
        }
        return read ? fields.seconds.map { Date(timeIntervalSince1970: $0) } : nil
    }
}

/// A Gregorian date's fields.
struct DateFields: Sendable {
    var year: Int?
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0.0
    /// The zone's offset in seconds, positive east of UTC.
    var offset = 0

    /// The seconds since 1970, or `nil` if a field has no valid value.
    var seconds: Double? {
        guard let year, (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        guard (0...24).contains(hour), (0...59).contains(minute), second >= 0, second < 62 else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        return Double(days * 86_400 + hour * 3600 + minute * 60 - offset) + second
    }

    /// Returns the days since 1970-01-01. Years start in March here, so that the leap day is the last day of a year.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Expands a two- or three-digit year (RFC 2822 §4.3).
    static func fullYear(_ value: Int, digits: Int) -> Int {
        guard digits <= 2 else { return digits == 3 ? 1900 + value : value }
        return value < 50 ? 2000 + value : 1900 + value
    }

    /// Reads a date that starts with a year: "2003-12-31T10:14:55Z" and shorter forms.
    mutating func readNumeric(_ tokens: DateTokens) -> Bool {
        var list = tokens.list[...]
        guard case .number(let first, let digits)? = list.popFirst() else { return false }
        switch digits {
        case 8: (year, month, day) = (first / 10_000, first / 100 % 100, first % 100)
        case 6: (year, month) = (first / 100, first % 100)
        case 7: (year, month, day) = (first / 1000, 1, first % 1000)
        case 14:
            (year, month, day) = (first / 10_000_000_000, first / 100_000_000 % 100, first / 1_000_000 % 100)
            (hour, minute, second) = (first / 10_000 % 100, first / 100 % 100, Double(first % 100))
        default: year = first
        }
        if digits == 7 { return setDayOfYear(day) && readTime(list) }
        if digits == 4 { readMonthAndDay(&list) }
        return readTime(list)
    }

    private mutating func readMonthAndDay(_ list: inout ArraySlice<DateTokens.Token>) {
        guard let value = Self.numberAfterSign(&list) else { return }
        if value.digits == 3 {
            _ = setDayOfYear(value.number)
        } else if value.digits == 4 {
            (month, day) = (value.number / 100, value.number % 100)
        } else {
            month = value.number
            if let next = Self.numberAfterSign(&list) { day = next.number }
        }
    }

    /// Removes the next number from the tokens, and the date separators before it. Returns the number.
    ///
    /// Returns `nil` if there is no number. Also returns `nil` if ":" follows the number. Such a number is an hour, and
    /// stays in the tokens.
    private static func numberAfterSign(_ list: inout ArraySlice<DateTokens.Token>) -> (number: Int, digits: Int)? {
        var rest = list
        while case .sign(let byte)? = rest.first, byte == 0x2D || byte == 0x2F || byte == 0x2E || byte >= 0x80 {
            rest.removeFirst()
        }
        guard rest.count < list.count || list.first.map({ if case .number = $0 { true } else { false } }) == true else {
            return nil
        }
        guard case .number(let number, let digits)? = rest.popFirst() else { return nil }
        if case .sign(0x3A)? = rest.first { return nil }
        list = rest
        return (number, digits)
    }

    private mutating func setDayOfYear(_ value: Int) -> Bool {
        guard let year, (1...366).contains(value) else { return false }
        let start = Self.days(year: year, month: 1, day: 1)
        for candidate in 1...12 where Self.days(year: year, month: candidate, day: 1) - start < value {
            month = candidate
            day = value - (Self.days(year: year, month: candidate, day: 1) - start)
        }
        return true
    }

    /// Reads a date whose month is a name, or whose year comes last.
    mutating func readWords(_ tokens: DateTokens) -> Bool {
        var numbers: [(number: Int, digits: Int)] = []
        var named: Int?
        var list = tokens.list[...]
        while let token = list.first {
            if case .number = token, list.count > 1, case .sign(0x3A) = list[list.startIndex + 1] { break }
            list.removeFirst()
            switch token {
            case .number(let value, let digits): if numbers.count < 3 { numbers.append((value, digits)) }
            case .word(let word): if named == nil { named = Self.month(word) }
            case .sign: break
            }
        }
        var rest = list
        // "Sun Jan 4 16:29:06 PST 2004": the year follows the time.
        if numbers.count < (named == nil ? 3 : 2) {
            let index = rest.lastIndex {
                if case .number(let value, 4) = $0 { value > 1900 && value < 2200 } else { false }
            }
            if let index, case .number(let value, let digits) = rest[index], !Self.isOffset(rest, index) {
                numbers.append((value, digits))
                rest.remove(at: index)
            }
        }
        guard setDate(numbers, named: named) else { return false }
        return readTime(rest)
    }

    private static func isOffset(_ list: ArraySlice<DateTokens.Token>, _ index: Int) -> Bool {
        guard index > list.startIndex, case .sign(let byte) = list[index - 1] else { return false }
        return byte == 0x2B || byte == 0x2D
    }

    private mutating func setDate(_ numbers: [(number: Int, digits: Int)], named: Int?) -> Bool {
        if let named {
            guard numbers.count >= 2 else { return false }
            month = named
            let isYearFirst = numbers[0].digits == 4 || numbers[0].number > 31
            let (dayNumber, yearNumber) = isYearFirst ? (numbers[1], numbers[0]) : (numbers[0], numbers[1])
            day = dayNumber.number
            year = Self.fullYear(yearNumber.number, digits: yearNumber.digits)
            return true
        }
        guard numbers.count == 3 else { return false }
        let (first, second) = (numbers[0].number, numbers[1].number)
        (month, day) = first > 12 ? (second, first) : (first, second)
        year = Self.fullYear(numbers[2].number, digits: numbers[2].digits)
        return true
    }
}

extension DateFields {
    /// Reads a time and a zone. Both may be missing.
    mutating func readTime(_ tokens: ArraySlice<DateTokens.Token>) -> Bool {
        var list = tokens.drop { if case .number = $0 { false } else { true } }
        guard case .number(let first, let digits)? = list.popFirst() else { return readZone(tokens) }
        if digits == 6 || digits == 4, tokens.first.map({ if case .word = $0 { true } else { false } }) == true {
            (hour, minute) = digits == 6 ? (first / 10_000, first / 100 % 100) : (first / 100, first % 100)
            second = digits == 6 ? Double(first % 100) : 0
            return readZone(list)
        }
        guard case .sign(0x3A)? = list.first else { return readZone(tokens) }
        hour = first
        if let value = Self.number(after: 0x3A, &list) { minute = value.number }
        if let value = Self.number(after: 0x3A, &list) { second = Double(value.number) }
        if let value = Self.number(after: 0x2E, &list) ?? Self.number(after: 0x2C, &list), value.digits <= 9 {
            second += Double(value.number) / [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9][value.digits]
        }
        return readZone(list)
    }

    private static func number(after sign: UInt8, _ list: inout ArraySlice<DateTokens.Token>) -> (
        number: Int, digits: Int
    )? {
        guard case .sign(sign)? = list.first, case .number(let value, let digits)? = list.dropFirst().first else {
            return nil
        }
        list.removeFirst(2)
        return (value, digits)
    }

    private mutating func readZone(_ tokens: ArraySlice<DateTokens.Token>) -> Bool {
        var list = tokens
        while let token = list.popFirst() {
            switch token {
            case .word(let word):
                if word == "pm", hour < 12 { hour += 12 }
                if word == "am", hour == 12 { hour = 0 }
                if let value = Self.zones[word] { offset = value * 60 }
            case .sign(let byte) where byte == 0x2B || byte == 0x2D:
                guard case .number(let value, let digits)? = list.popFirst() else { continue }
                var minutes = digits <= 2 ? value * 60 : value / 100 * 60 + value % 100
                if digits <= 2, let more = Self.number(after: 0x3A, &list) { minutes += more.number }
                guard minutes <= 24 * 60 else { return true }
                offset = (byte == 0x2B ? minutes : -minutes) * 60
                return true
            case .sign, .number: break
            }
        }
        return true
    }

    /// Returns the month for an English name or abbreviation.
    static func month(_ word: String) -> Int? {
        guard word.utf8.count >= 3 else { return nil }
        return months.firstIndex { word.hasPrefix($0) }.map { $0 + 1 }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Zones by name, in minutes east of UTC: the zones of RFC 822 §5.1, and other zones in use.
    private static let zones: [String: Int] = [
        "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420,
        "mdt": -360,
        "pst": -480, "pdt": -420, "akst": -540, "akdt": -480, "hst": -600, "ast": -240, "adt": -180, "nst": -210,
        "ndt": -150, "et": -300,
        "ct": -360, "mt": -420, "pt": -480, "bst": 60, "cet": 60, "cest": 120, "met": 60, "mest": 120, "eet": 120,
        "eest": 180, "west": 60,
        "msk": 180, "jst": 540, "kst": 540, "hkt": 480, "sgt": 480, "aest": 600, "aedt": 660, "acst": 570, "awst": 480,
        "nzst": 720,
        "nzdt": 780, "sast": 120,
    ]
}

/// A date split into numbers, words and signs.
struct DateTokens: Sendable {
    enum Token: Equatable, Sendable {
        case number(Int, digits: Int)
        /// A word in lower case.
        case word(String)
        /// Any other character except white space. 0x80 stands for any byte of a non-ASCII character.
        case sign(UInt8)
    }

    private(set) var list: [Token] = []

    /// Splits a text. Ignores all bytes after the first 96.
    init(_ text: String) {
        var rest = Array(text.utf8.prefix(96))[...]
        list.reserveCapacity(16)
        while let byte = rest.first {
            if Self.isDigit(byte) {
                let digits = rest.prefix { Self.isDigit($0) }
                rest = rest[digits.endIndex...]
                let number = digits.prefix(15).reduce(0) { $0 * 10 + Int($1 - 0x30) }
                list.append(.number(number, digits: digits.count))
            } else if (byte | 0x20) >= 0x61, (byte | 0x20) <= 0x7A {
                let word = rest.prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
                rest = rest[word.endIndex...]
                list.append(.word(String(decoding: word.map { $0 | 0x20 }, as: UTF8.self)))
            } else {
                rest.removeFirst()
                if byte > 0x20 { list.append(.sign(min(byte, 0x80))) }
            }
        }
    }

    /// Whether the text starts with a four-digit year or with a date without separators.
    var startsWithYear: Bool {
        guard case .number(_, let digits)? = list.first else { return false }
        return digits == 4 || (6...8).contains(digits) || digits == 14
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
