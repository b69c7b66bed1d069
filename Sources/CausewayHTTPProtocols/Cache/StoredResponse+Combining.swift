internal import CausewayWire

extension StoredResponse {
    /// How the contents of an older and a newer partial response make one.
    package struct Combination: Equatable, Sendable {
        /// The head of the combined response. It is complete, with status 200, if the content is.
        package var head: StoredResponse
        /// The number of bytes at the start of the older content that come before the newer content.
        package var before: Int
        /// The number of bytes at the end of the older content that come after the newer content.
        package var after: Int
    }

    /// Returns the combination of this partial response with an older one (RFC 9111 §3.4, RFC 9110 §15.3.7.3).
    ///
    /// - Returns: `nil` unless both answer the same requests, have the same strong entity tag, and overlap or touch each other; also if the
    ///   older response adds nothing.
    package func combination(with older: StoredResponse) -> Combination? {
        guard let mine = part, let other = older.part, mine.length == other.length, selecting == older.selecting,
            let tag = strongTag, tag == older.strongTag,
            mine.positions.lowerBound <= other.positions.upperBound,
            other.positions.lowerBound <= mine.positions.upperBound
        else { return nil }
        let before = max(0, mine.positions.lowerBound - other.positions.lowerBound)
        let after = max(0, other.positions.upperBound - mine.positions.upperBound)
        guard before > 0 || after > 0 else { return nil }
        let union = mine.positions.lowerBound - before..<mine.positions.upperBound + after
        // The fields of the newer response replace those of the older one.
        var head = older
        head.freshen(with: fields, requestTime: requestTime, responseTime: responseTime)
        head.fields.set("Content-Length", String(union.count))
        if union.count == mine.length {
            head.status = 200
            head.part = nil
            head.fields.removeAll("Content-Range")
        } else {
            head.part = Part(positions: union, length: mine.length, request: "")
            head.fields.set("Content-Range", ContentRange(positions: union, length: mine.length).text)
        }
        return Combination(head: head, before: before, after: after)
    }

    /// The entity tag; `nil` if there is none or it is weak (RFC 9110 §8.8.3).
    private var strongTag: String? { fields.onlyValue(of: "ETag").flatMap { $0.hasPrefix("\"") ? $0 : nil } }
}
