package import CausewayWire

/// A download whose content arrives in several responses: what is stored of it, what to ask for, and what an answer means (RFC 9110 §14).
package struct PartialDownload: Equatable, Sendable {
    /// What to do with the content of a response.
    package enum Answer: Equatable, Sendable {
        /// Append it to what is stored.
        case rest
        /// Replace what is stored.
        case whole
        /// Everything is stored.
        case complete
        /// The ranges do not fit together: discard what is stored, and ask again.
        case mismatch
        /// The response is not the content. Its status says why.
        case refused
    }

    /// The number of bytes that are stored.
    package private(set) var position: Int
    /// The strong validator of the stored content; `nil` if the server gave none.
    package private(set) var validator: String?
    /// The length of the whole content; `nil` if it is not known.
    package private(set) var length: Int?

    /// Creates a download, for which something may be stored. Content without a validator could be of another version, so it is not kept.
    package init(position: Int = 0, validator: String? = nil, length: Int? = nil) {
        self.validator = validator
        self.position = validator == nil ? 0 : max(0, position)
        self.length = length
    }

    /// Sets the fields of the next request.
    package func prepare(_ fields: inout FieldSection) {
        guard position > 0, let validator else { return }
        fields.set("Range", "bytes=\(position)-")
        fields.set("If-Range", validator)
    }

    /// Interprets the head of a response to the prepared request.
    ///
    /// - Parameter now: The current time in seconds since 1970.
    package mutating func answered(status: Int, fields: FieldSection, now: Int) -> Answer {
        let range = fields.onlyValue(of: "Content-Range").flatMap { ContentRange(parsing: Array($0.utf8)[...]) }
        switch status {
        case 206 where position == 0: return .refused
        case 206: return continues(at: range, fields) ? .rest : restart()
        case 416 where position > 0: return range?.length == position && length == position ? .complete : restart()
        case 200..<300:
            position = 0
            validator = RangeValidators.strongTag(of: fields) ?? RangeValidators.strongDate(of: fields, now: now)
            length = fields.onlyValue(of: "Content-Length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
            return .whole
        default: return .refused
        }
    }

    /// Takes the next bytes of the content.
    package mutating func received(_ count: Int) { position += count }

    /// Discards what is stored.
    package mutating func discard() { self = PartialDownload() }

    private mutating func restart() -> Answer {
        discard()
        return .mismatch
    }

    /// Returns whether a partial response begins where the stored content ends, and is of the same version.
    private mutating func continues(at range: ContentRange?, _ fields: FieldSection) -> Bool {
        guard position > 0, range?.positions?.lowerBound == position else { return false }
        if let tag = RangeValidators.strongTag(of: fields), validator?.hasPrefix("\"") == true, tag != validator {
            return false
        }
        guard let total = range?.length else { return true }
        guard length == nil || length == total else { return false }
        length = total
        return true
    }
}
