internal import Foundation

/// A response's caching and resumption properties (RFC 9110, RFC 9111).
extension ResponseHead {
    private var directives: [String: String] {
        var result: [String: String] = [:]
        for directive in (fields["cache-control"] ?? "").lowercased().split(separator: ",") {
            let pair = directive.split(separator: "=", maxSplits: 1)
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) }
            if let name = pair.first { result[name] = pair.count > 1 ? pair[1] : "" }
        }
        return result
    }

    /// Whether the response may be stored (RFC 9111 §5.2.2.5).
    var permitsStoring: Bool { directives["no-store"] == nil && fields["vary"]?.contains("*") != true }

    /// When the response becomes stale, in seconds since 1970 (RFC 9111 §4.2); `nil` if each use requires validation.
    func expires(now: Int64) -> Int64? {
        let directives = directives
        guard directives["no-cache"] == nil else { return nil }
        if let age = directives["max-age"] {
            let used = max(0, fields["age"].flatMap { Int64($0) } ?? 0)
            guard let seconds = Int64(age), seconds > used else { return nil }
            // Limit the lifetime to 31 years.
            return now + min(seconds - used, 1_000_000_000)
        }
        guard let date = fields["expires"].flatMap(HTTPDate.seconds), date > now else { return nil }
        return min(date, now + 1_000_000_000)
    }

    /// The validator to resume after a failure: a strong entity tag, or else the date (RFC 9110 §13.1.5); `nil` if the
    /// server cannot resume.
    var rangeValidator: String? {
        guard fields["accept-ranges"]?.lowercased() != "none", fields["content-encoding"] == nil else { return nil }
        if let tag = fields["etag"] { return tag.hasPrefix("W/") ? nil : tag }
        return fields["last-modified"]
    }

    /// A partial response's first byte position and total byte count (RFC 9110 §14.4); `nil` if the field is missing or
    /// malformed.
    var contentRange: (start: Int, total: Int?)? {
        guard let text = fields["content-range"]?.lowercased(), text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/")
        guard parts.count == 2, let start = parts[0].split(separator: "-").first.flatMap({ Int($0) }), start >= 0 else {
            return nil
        }
        return (start, Int(parts[1]))
    }

    /// The content's byte count; `nil` if unknown.
    var contentLength: Int? {
        guard fields["content-encoding"] == nil else { return nil }
        return fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// Dates in HTTP's preferred format (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns seconds since 1970; `nil` if the text is not a date.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(words[2])), let year = Int(words[3]), (1...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        return Int64(days(year, month + 1, day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2])
    }

    /// Days since 1970 in the Gregorian calendar, with years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
