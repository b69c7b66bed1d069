/// Formats times. Caches the latest second's text, because consecutive packets are usually captured in the same second.
struct TimeText: Sendable {
    private var first: CaptureTime?
    private var previous: CaptureTime?
    private var second = Int64.min
    private var secondText = TextBuffer()

    mutating func put(_ time: CaptureTime, _ options: PacketPrinter.Options, _ out: inout TextBuffer) {
        defer {
            previous = time
            if first == nil { first = time }
        }
        switch options.time {
        case .none: return
        case .clock, .date: absolute(time, options, &out)
        case .seconds:
            out.decimal(time.seconds)
            fraction(time, options, &out)
        case .sincePrevious: difference(time, previous ?? time, options, &out)
        case .sinceFirst: difference(time, first ?? time, options, &out)
        }
        out.put(" ")
    }

    private func fraction(_ time: CaptureTime, _ options: PacketPrinter.Options, _ out: inout TextBuffer) {
        out.put(".")
        let value = options.nanoseconds ? time.nanoseconds : time.microseconds
        out.decimal(value, width: options.nanoseconds ? 9 : 6, padding: 0x30)
        if value >= (options.nanoseconds ? 1_000_000_000 : 1_000_000) {
            out.put(options.nanoseconds ? " (invalid ns)" : " (invalid us)")
        }
    }

    private mutating func absolute(_ time: CaptureTime, _ options: PacketPrinter.Options, _ out: inout TextBuffer) {
        if time.seconds != second {
            second = time.seconds
            secondText.removeAll()
            if options.time == .date { Self.date(time.seconds, &secondText) }
            Self.clock(time.seconds, &secondText)
        }
        out.put(secondText)
        fraction(time, options, &out)
    }

    private static func clock(_ seconds: Int64, _ out: inout TextBuffer) {
        let inDay = ((seconds % 86400) + 86400) % 86400
        out.decimal(inDay / 3600, width: 2, padding: 0x30)
        out.put(":")
        out.decimal(inDay / 60 % 60, width: 2, padding: 0x30)
        out.put(":")
        out.decimal(inDay % 60, width: 2, padding: 0x30)
    }

    /// Appends a date in the proleptic Gregorian calendar. The date is computed in eras of 400 years that begin in
    /// March.
    private static func date(_ seconds: Int64, _ out: inout TextBuffer) {
        let days = (seconds - (((seconds % 86400) + 86400) % 86400)) / 86400 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        out.decimal(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), width: 4, padding: 0x30)
        out.put("-")
        out.decimal(month, width: 2, padding: 0x30)
        out.put("-")
        out.decimal(dayOfYear - (153 * shifted + 2) / 5 + 1, width: 2, padding: 0x30)
        out.put(" ")
    }

    private func difference(
        _ time: CaptureTime, _ start: CaptureTime, _ options: PacketPrinter.Options, _ out: inout TextBuffer
    ) {
        let unit: Int64 = options.nanoseconds ? 1_000_000_000 : 1_000_000
        let one = Int64(clamping: options.nanoseconds ? time.nanoseconds : time.microseconds)
        let other = Int64(clamping: options.nanoseconds ? start.nanoseconds : start.microseconds)
        let total = (time.seconds &- start.seconds) &* unit &+ one &- other
        out.put(total < 0 ? "-" : " ")
        let size = Int64(clamping: total.magnitude)
        Self.clock(size / unit, &out)
        out.put(".")
        out.decimal(size % unit, width: options.nanoseconds ? 9 : 6, padding: 0x30)
    }
}

/// The first sequence numbers of TCP connections, which relative numbers are based on. The key of a connection consists
/// of its addresses and ports.
struct SequenceTable: Sendable {
    struct Key: Hashable {
        var lowHigh: UInt64, lowLow: UInt64, highHigh: UInt64, highLow: UInt64
        var ports: UInt32
    }
    struct Start {
        var sequence: UInt32
        var acknowledgement: UInt32
    }
    var starts: [Key: Start] = [:]
}
