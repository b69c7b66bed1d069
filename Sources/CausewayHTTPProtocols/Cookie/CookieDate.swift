import CausewayProtocols
import CausewayWire

/// Parses `Set-Cookie` dates (RFC 6265 §5.1.1). They have more formats than other HTTP dates.
package enum CookieDate {
    /// Returns the time in seconds since 1970, or `nil` if the text contains no complete date.
    ///
    /// The parts of the date may occur in any order. A word can match the formats of several parts. It then counts as
    /// the first of these parts that has not been found yet, in the order time, day, month, year.
    package static func parse(_ bytes: some Sequence<UInt8>) -> Int64? {
        var found = Parts()
        var word: [UInt8] = []
        for byte in bytes {
            if isDelimiter(byte) {
                found.take(word)
                word.removeAll(keepingCapacity: true)
            } else {
                word.append(byte)
            }
        }
        found.take(word)
        return found.seconds
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The date parts found so far.
    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func take(_ word: [UInt8]) {
            guard !word.isEmpty else { return }
            if time == nil, let parsed = Parts.time(word) {
                time = parsed
            } else if day == nil, let number = Parts.number(word, digits: 1...2) {
                day = number
            } else if month == nil, let index = Parts.month(word) {
                month = index
            } else if year == nil, let number = Parts.number(word, digits: 2...4) {
                year = Parts.century(number)
            }
        }

        var seconds: Int64? {
            guard let time, let day, let month, let year, year >= 1601, (1...31).contains(day) else { return nil }
            guard time.hour <= 23, time.minute <= 59, time.second <= 59 else { return nil }
            guard day <= HTTPDate.dayCount(year: year, month: month) else { return nil }
            return Int64(HTTPDate.days(year: year, month: month, day: day)) * 86_400
                + Int64(time.hour * 3_600 + time.minute * 60 + time.second)
        }

        /// Returns the number at the start of a word; `nil` unless its digit count is in `digits`.
        private static func number(_ word: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
            let leading = word.prefix(while: URIBytes.isDigit)
            guard digits.contains(leading.count) else { return nil }
            return leading.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        private static func time(_ word: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
            let pieces = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard pieces.count == 3 else { return nil }
            // The hour and the minute must consist of digits. The seconds begin with digits, and other text may follow.
            guard pieces[0].allSatisfy(URIBytes.isDigit), pieces[1].allSatisfy(URIBytes.isDigit) else { return nil }
            guard let hour = number(pieces[0], digits: 1...2), let minute = number(pieces[1], digits: 1...2),
                let second = number(pieces[2], digits: 1...2)
            else { return nil }
            return (hour, minute, second)
        }

        private static let months: [[UInt8]] = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ].map { Array($0.utf8) }

        private static func month(_ word: [UInt8]) -> Int? {
            guard word.count >= 3 else { return nil }
            return months.firstIndex(of: word.prefix(3).map { $0 | 0x20 }).map { $0 + 1 }
        }

        private static func century(_ year: Int) -> Int {
            switch year {
            case 70...99: year + 1900
            case 0...69: year + 2000
            default: year
            }
        }
    }
}
