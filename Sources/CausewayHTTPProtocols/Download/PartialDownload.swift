internal import CausewayTypes
package import CausewayWire

/// A download with content from several responses. Builds range requests and interprets their responses (RFC 9110 §14).
package struct PartialDownload: Equatable, Sendable {
    /// How to handle the response content.
    package enum Answer: Equatable, Sendable {
        /// Append the response content to the stored content.
        case rest
        /// Replace the stored content with the response content.
        case whole
        /// Do nothing: all content is already stored.
        case complete
        /// The response's range does not fit the stored content, so this content was discarded. Request all content
        /// again.
        case mismatch
        /// The response does not contain the requested content. For example, it is an error response. The status of the
        /// response shows the reason.
        case refused
    }

    /// The number of stored bytes.
    package private(set) var position: Int
    /// The stored content's strong validator; `nil` if the server sent none.
    package private(set) var validator: String?
    /// The full content length in bytes; `nil` if it is unknown.
    package private(set) var length: Int?

    /// Creates a download. `position` is the length in bytes of the content that is already stored. Without a
    /// validator, it counts as 0, because the stored content may be from another version.
    package init(position: Int = 0, validator: String? = nil, length: Int? = nil) {
        self.validator = validator
        self.position = validator == nil ? 0 : max(0, position)
        self.length = length
    }

    /// Adds `Range` and `If-Range` to the next request, if content is stored.
    package func prepare(_ fields: inout FieldSection) {
        guard position > 0, let validator else { return }
        fields.set("Range", "bytes=\(position)-")
        fields.set("If-Range", validator)
    }

    /// Interprets the head of a response to a request with the fields from ``prepare(_:)``.
    ///
    /// - Parameters:
    ///   - status: The response status.
    ///   - fields: The response fields.
    ///   - now: The current time in seconds since 1970.
    package mutating func answered(status: Int, fields: FieldSection, now: Int) -> Answer {
        let range = fields.onlyValue(of: "Content-Range").flatMap { ContentRange(parsing: Array($0.utf8)[...]) }
        switch status {
        case 206 where position == 0: return .refused
        case 206: return continues(at: range, fields) ? .rest : restart()
        case 416 where position > 0: return range?.length == position && length == position ? .complete : restart()
        case 200..<300:
            position = 0
            validator = RangeValidators.strongTag(of: fields) ?? RangeValidators.strongDate(of: fields, now: now)
            length = fields.onlyValue(of: "Content-Length").flatMap { Int(digits: $0) }
            return .whole
        default: return .refused
        }
    }

    /// Records newly stored content bytes.
    package mutating func received(_ count: Int) { position += count }

    /// Discards the stored content.
    package mutating func discard() { self = PartialDownload() }

    private mutating func restart() -> Answer {
        discard()
        return .mismatch
    }

    /// Returns whether a partial response continues the stored content. It must start at the end of this content, and
    /// belong to the same version.
    private mutating func continues(at range: ContentRange?, _ fields: FieldSection) -> Bool {
        guard position > 0, range?.positions?.lowerBound == position else { return false }
        // Entity tags are compared byte by byte (RFC 9110 §8.8.3.2). Equal Swift strings can differ in bytes.
        if let tag = RangeValidators.strongTag(of: fields), let mine = validator?.utf8,
            mine.first == UInt8(ascii: "\""),
            !mine.elementsEqual(tag.utf8)
        {
            return false
        }
        guard let total = range?.length else { return true }
        guard length == nil || length == total else { return false }
        length = total
        return true
    }
}
