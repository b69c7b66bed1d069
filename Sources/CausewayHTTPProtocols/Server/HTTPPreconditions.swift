package import CausewayWire

/// A representation's validators (RFC 9110 §8.8).
package struct HTTPValidators: Equatable, Sendable {
    package var entityTag: EntityTag?
    /// The time of the latest modification, in seconds since 1970.
    package var lastModified: Int?

    package init(entityTag: EntityTag? = nil, lastModified: Int? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Reads the entity tag and the modification date from response fields.
    package init(_ fields: FieldSection, now: Int) {
        entityTag = fields.index(of: "ETag").flatMap { EntityTag(parsing: fields[$0].value) }
        lastModified = fields.index(of: "Last-Modified").flatMap {
            HTTPDate.seconds(parsing: fields[$0].value, now: now)
        }
    }

    package var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// Evaluates conditional requests (RFC 9110 §13).
package enum HTTPPreconditions {
    package enum Outcome: Equatable, Sendable {
        /// The preconditions hold, so perform the request.
        case proceed
        /// Respond with status 304 (RFC 9110 §13.1.2, §13.1.3).
        case notModified
        /// Respond with status 412 (RFC 9110 §13.1.4, §15.5.13).
        case failed
    }

    /// Returns whether the response can depend on the representation's validators: the request has a precondition or a range.
    package static func hasCondition(_ fields: FieldSection) -> Bool { conditions.contains { fields.contains($0) } }

    private static let conditions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Range",
    ]

    /// Evaluates a request's preconditions in the order given by RFC 9110 §13.2.2.
    ///
    /// - Parameters:
    ///   - fields: The request fields.
    ///   - method: The request method.
    ///   - validators: The current representation's validators; `nil` if there is no representation.
    ///   - now: The current time, in seconds since 1970.
    package static func evaluate(
        _ fields: FieldSection, method: String, _ validators: HTTPValidators?, now: Int
    ) -> Outcome {
        if fields.contains("If-Match") {
            guard matchesAny(fields, "If-Match", validators, isStrong: true) else { return .failed }
        } else if let limit = date(fields, "If-Unmodified-Since", now), let modified = validators?.lastModified,
            modified > limit
        {
            return .failed
        }
        let isRead = method == "GET" || method == "HEAD"
        if fields.contains("If-None-Match") {
            guard matchesAny(fields, "If-None-Match", validators, isStrong: false) else { return .proceed }
            return isRead ? .notModified : .failed
        }
        if isRead, let since = date(fields, "If-Modified-Since", now), let modified = validators?.lastModified,
            modified <= since
        {
            return .notModified
        }
        return .proceed
    }

    /// Returns whether `If-Range` permits a partial response (RFC 9110 §13.1.5). Without `If-Range`, a partial response
    /// is permitted.
    package static func permitsRange(_ fields: FieldSection, _ validators: HTTPValidators, now: Int) -> Bool {
        guard let index = fields.index(of: "If-Range") else { return true }
        let value = fields[index].value
        if let tag = EntityTag(parsing: value) {
            return validators.entityTag?.matches(tag, isStrong: true) ?? false
        }
        guard let date = HTTPDate.seconds(parsing: value, now: now) else { return false }
        // A date identifies the content reliably only if it is at least one second older than the response (RFC 9110
        // §8.8.2.2).
        return validators.lastModified == date && date < now
    }

    private static func matchesAny(
        _ fields: FieldSection, _ name: String, _ validators: HTTPValidators?, isStrong: Bool
    ) -> Bool {
        guard let validators else { return false }
        var matches = false
        for value in fields.values(of: name) where !matches {
            var rest = Array(value.utf8)[...]
            if HTTPCharacters.trimmed(rest).elementsEqual("*".utf8) { return true }
            while !matches, let tag = nextTag(&rest) {
                matches = validators.entityTag?.matches(tag, isStrong: isStrong) ?? false
            }
        }
        return matches
    }

    /// Removes and returns the next entity tag in a list. A tag can contain commas.
    private static func nextTag(_ rest: inout ArraySlice<UInt8>) -> EntityTag? {
        rest = rest.drop { HTTPCharacters.isSpace($0) || $0 == UInt8(ascii: ",") }
        let quote = UInt8(ascii: "\"")
        guard let open = rest.firstIndex(of: quote), let close = rest[(open + 1)...].firstIndex(of: quote) else {
            return nil
        }
        let tag = EntityTag(parsing: rest[...close])
        rest = rest[(close + 1)...]
        return tag
    }

    private static func date(_ fields: FieldSection, _ name: String, _ now: Int) -> Int? {
        fields.index(of: name).flatMap { HTTPDate.seconds(parsing: fields[$0].value, now: now) }
    }
}

/// The parts of a representation selected by the `Range` field (RFC 9110 §14.2).
package enum RangeSelection: Equatable, Sendable {
    case whole
    /// Respond with status 206 and the selected parts of the representation (RFC 9110 §15.3.7.1, §15.3.7.2).
    ///
    /// There is at least one part, and the parts do not overlap.
    case parts([Range<Int>])
    /// No requested range can be satisfied. Respond with status 416 (RFC 9110 §15.5.17).
    case unsatisfiable

    /// If at most this number of bytes separates two parts, they are joined. A separate part costs a head of about this
    /// length.
    private static let smallestGap = 80

    /// Selects parts from content with this length in bytes. Only GET requests can have ranges.
    package init(_ fields: FieldSection, method: String, _ validators: HTTPValidators, length: Int, now: Int) {
        guard method == "GET", let index = fields.index(of: "Range"), let ranges = ByteRange.parse(fields[index].value),
            HTTPPreconditions.permitsRange(fields, validators, now: now)
        else {
            self = .whole
            return
        }
        let positions = ranges.compactMap { $0.positions(in: length) }
        guard !positions.isEmpty else {
            self = .unsatisfiable
            return
        }
        self = .parts(Self.joined(positions))
    }

    /// Joins parts that overlap or almost touch, so that a response is never much longer than the representation (RFC 9110 §17.15). Keeps
    /// the requested order if nothing is joined.
    private static func joined(_ positions: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for next in positions.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = result.last, next.lowerBound <= last.upperBound + smallestGap else {
                result.append(next)
                continue
            }
            result[result.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
        }
        return result.count == positions.count ? positions : result
    }
}
