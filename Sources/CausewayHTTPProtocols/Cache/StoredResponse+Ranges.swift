package import CausewayWire

extension StoredResponse {
    /// Records which part of the representation a partial response contains (RFC 9111 §3.3).
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - count: The received content's length in bytes. If `Content-Range` states a longer range, only the first
    ///     `count` bytes of that range are recorded.
    /// - Returns: `false` if the response is partial and its part is unknown.
    package mutating func notePart(of request: FieldSection, count: Int) -> Bool {
        guard status == 206 else { return true }
        guard let wanted = request.onlyValue(of: "Range"), !fields.contains("Content-Encoding"),
            let text = fields.onlyValue(of: "Content-Range"),
            let range = ContentRange(parsing: text), let positions = range.positions, let length = range.length,
            count > 0, count <= positions.count
        else { return false }
        part = Part(positions: positions.lowerBound..<positions.lowerBound + count, length: length, request: wanted)
        return true
    }

    /// Returns the positions in the stored content that answer a request's `Range` field; `nil` if they are not stored,
    /// or if the field is invalid or has several ranges.
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - count: The length of the stored content in bytes. It is used only if the stored response is complete.
    package func positions(for request: FieldSection, count: Int = 0) -> Range<Int>? {
        guard let text = request.onlyValue(of: "Range"), let ranges = ByteRange.parse(text), ranges.count == 1 else {
            return nil
        }
        guard let part else { return status == 200 ? ranges[0].positions(in: count) : nil }
        if text == part.request { return 0..<part.positions.count }
        guard let wanted = ranges[0].positions(in: part.length) else { return nil }
        let (start, end) = (part.positions.lowerBound, part.positions.upperBound)
        // The stored part may end before the representation ends. It still answers a requested range that has no end,
        // because a server may also send less than such a range (RFC 9110 §15.3.7).
        let isOpen = if case .from(_, nil) = ranges[0] { true } else { false }
        guard wanted.lowerBound >= start, wanted.lowerBound < end, isOpen || wanted.upperBound <= end else {
            return nil
        }
        return wanted.lowerBound - start..<min(wanted.upperBound, end) - start
    }

    /// Returns the fields for a 206 response that contains the stored content at these positions.
    package func fields(forPart positions: Range<Int>, count: Int) -> FieldSection {
        var result = usableFields
        if part?.positions.count == positions.count, result.contains("Content-Range") { return result }
        let start = part?.positions.lowerBound ?? 0
        let range = ContentRange(
            positions: start + positions.lowerBound..<start + positions.upperBound, length: part?.length ?? count)
        result.set("Content-Range", range.text)
        result.set("Content-Length", String(positions.count))
        return result
    }
}
