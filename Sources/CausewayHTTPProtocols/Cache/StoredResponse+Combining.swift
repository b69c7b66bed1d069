internal import CausewayWire

extension StoredResponse {
    /// How two partial responses, an older and a newer one, are combined.
    package struct Combination: Equatable, Sendable {
        /// The head of the combined response. Its status is 200 if the content is complete.
        package var head: StoredResponse
        /// The number of bytes from the start of the older content that precede the newer content.
        package var before: Int
        /// The number of bytes that the older content has after the end of the newer content.
        package var after: Int
    }

    /// Combines this partial response with an older partial response (RFC 9111 §3.4, RFC 9110 §15.3.7.3).
    ///
    /// - Returns: The combination; `nil` unless both responses have the same selecting fields and the same strong
    ///   entity tag, and their parts overlap or touch; also `nil` if the older response adds no bytes.
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
        // The newer response's fields replace the older response's fields.
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

    /// The entity tag; `nil` if it is missing or weak (RFC 9110 §8.8.3).
    private var strongTag: String? {
        fields.onlyValue(of: "ETag").flatMap { $0.utf8.first == UInt8(ascii: "\"") ? $0 : nil }
    }
}
