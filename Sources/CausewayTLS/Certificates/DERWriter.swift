/// Encodes DER values (ITU-T X.690) as byte arrays.
package enum DERWriter {
    /// Encodes tag, length and content.
    package static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    package static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }
    package static func set(_ parts: [UInt8]...) -> [UInt8] { value(0x31, parts.flatMap { $0 }) }
    package static func boolean(_ isTrue: Bool) -> [UInt8] { value(0x01, [isTrue ? 0xff : 0]) }
    package static func bytes(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }
    package static func text(_ text: String) -> [UInt8] { value(0x0c, Array(text.utf8)) }
    /// Encodes an explicit context-specific tag.
    package static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { value(0xa0 | number, content) }

    /// Encodes a non-negative integer. `bytes` is in network byte order.
    package static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return value(0x02, digits)
    }

    package static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + content) }

    package static func identifier(_ numbers: UInt32...) -> [UInt8] {
        precondition(numbers.count >= 2, "an object identifier needs at least two numbers")
        var content = base128(numbers[0] * 40 + numbers[1])
        for number in numbers.dropFirst(2) { content += base128(number) }
        return value(0x06, content)
    }

    private static func base128(_ number: UInt32) -> [UInt8] {
        var rest = number >> 7
        var digits = [UInt8(number & 0x7f)]
        while rest > 0 {
            digits.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return digits
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xff), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(digits.count)] + digits
    }

    /// The times whose year has four digits, in seconds since 1970.
    private static let encodableTimes: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
    /// The times that are encoded with a two-digit year, in seconds since 1970. They are in the years 1950 to 2049.
    private static let timesWithShortYear: Range<Int64> = -631_152_000..<2_524_608_000

    /// Encodes a time in the format for its year (RFC 5280 §4.1.2.5). The time is in seconds since 1970.
    ///
    /// For the years 1950 to 2049, the format is UTCTime, which has a two-digit year. For all other years, it is
    /// GeneralizedTime.
    package static func time(_ seconds: Int64) -> [UInt8] {
        let long = generalizedTime(seconds)
        return timesWithShortYear.contains(seconds) ? value(0x17, Array(long.dropFirst(4))) : long
    }

    /// Encodes a time, in seconds since 1970, as GeneralizedTime. Times before the year 0 become the earliest time that
    /// has an encoding, and times after 9999 the latest. The latest time means that a certificate does not expire.
    package static func generalizedTime(_ seconds: Int64) -> [UInt8] {
        let time = Int(min(max(seconds, encodableTimes.lowerBound), encodableTimes.upperBound))
        let second = (time % 86_400 + 86_400) % 86_400
        let (year, month, day) = GregorianCalendar.date(ofDay: (time - second) / 86_400)
        let parts = [year / 100, year % 100, month, day, second / 3_600, second / 60 % 60, second % 60]
        return value(0x18, Array((parts.map(pair).joined() + "Z").utf8))
    }

    private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
