/// The hints in a `Keep-Alive` field (RFC 2068 §19.7.1.1), which many servers still send.
package struct KeepAlive: Equatable, Sendable {
    /// Seconds for which the server keeps an idle connection open.
    package var timeout: Int?
    /// Number of requests after the current one that the server permits on the connection.
    package var maximum: Int?

    /// Creates a value without hints.
    package init() {}

    /// Reads the `Keep-Alive` field in a message's fields. Unknown and malformed parameters are ignored.
    package init(_ fields: FieldSection) {
        guard fields.contains("Keep-Alive") else { return }
        var timeout: Int?
        var maximum: Int?
        fields.forEachElement(of: "Keep-Alive") { element in
            var reader = FieldValueReader(element)
            guard let name = reader.token() else { return true }
            reader.skipSpace()
            guard reader.take("=") else { return true }
            reader.skipSpace()
            guard let value = reader.number(), reader.isAtEnd else { return true }
            if HTTPCharacters.areEqual(name, "timeout") { timeout = value }
            if HTTPCharacters.areEqual(name, "max") { maximum = value }
            return true
        }
        self.timeout = timeout
        self.maximum = maximum
    }
}

/// A `Retry-After` value (RFC 9110 §10.2.3).
package enum RetryAfter: Equatable, Sendable {
    /// The number of seconds to wait after the response.
    case delay(Int)
    /// The time at which the wait ends, in seconds since 1970.
    case date(Int)

    /// Parses a field value.
    ///
    /// - Parameter now: The current time in seconds since 1970, for dates with a two-digit year.
    package init?(parsing value: ArraySlice<UInt8>, now: Int) {
        let value = HTTPCharacters.trimmed(value)
        var reader = FieldValueReader(value)
        if let delay = reader.number(), reader.isAtEnd {
            self = .delay(delay)
        } else if let date = HTTPDate.seconds(parsing: value, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Parses a field value. See ``init(parsing:now:)-(ArraySlice<UInt8>,_)``.
    package init?(parsing text: String, now: Int) { self.init(parsing: Array(text.utf8)[...], now: now) }

    /// Returns the seconds to wait, 0 for a time in the past.
    package func delay(now: Int) -> Int {
        switch self {
        case .delay(let seconds): return seconds
        case .date(let date):
            let (difference, overflows) = date.subtractingReportingOverflow(now)
            return overflows ? 0 : max(0, difference)
        }
    }
}
