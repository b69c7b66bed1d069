internal import CausewayTypes
internal import CausewayWire
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

    /// Returns the time when the response becomes stale, in seconds since 1970 (RFC 9111 §4.2). Returns `nil` if every
    /// use of the response requires validation.
    func expires(now: Int64) -> Int64? {
        let directives = directives
        guard directives["no-cache"] == nil else { return nil }
        if let age = directives["max-age"] {
            let used = fields["age"].flatMap { Int64(digits: $0) } ?? 0
            guard let seconds = Int64(digits: age), seconds > used else { return nil }
            // Limit the lifetime to 1,000,000,000 seconds (31 years), because the sum with a larger value could
            // overflow.
            return now + min(seconds - used, 1_000_000_000)
        }
        guard let text = fields["expires"], let date = HTTPDate.seconds(parsing: text, now: Int(now)), date > now else {
            return nil
        }
        return min(Int64(date), now + 1_000_000_000)
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
        guard let range = fields["content-range"].flatMap({ ContentRange(parsing: $0) }),
            let positions = range.positions
        else { return nil }
        return (positions.lowerBound, range.length)
    }

    /// The content's byte count; `nil` if unknown.
    var contentLength: Int? {
        guard fields["content-encoding"] == nil else { return nil }
        return fields["content-length"].flatMap { Int(digits: $0) }
    }
}
