/// A byte range in a `Range` field (RFC 9110 §14.1.2). Positions start at 0, and the last position is inclusive.
package enum ByteRange: Equatable, Sendable {
    /// The bytes from the first position through `through`, or to the end of the content if `through` is `nil`.
    case from(Int, through: Int?)
    /// The last N bytes of the content.
    case suffix(Int)

    /// The maximum number of ranges in one field. RFC 9110 §14.2 asks servers to ignore requests for many small ranges.
    package static let maximumCount = 64

    /// Returns the `Range` field value for byte ranges.
    package static func text(_ ranges: [ByteRange]) -> String {
        "bytes=" + ranges.map(\.text).joined(separator: ",")
    }

    private var text: String {
        switch self {
        case .from(let first, let last): "\(first)-" + (last.map { String($0) } ?? "")
        case .suffix(let count): "-\(count)"
        }
    }

    /// Parses a `Range` field value. Returns `nil` if the unit is not bytes or a range is malformed. A server then
    /// ignores the field.
    package static func parse(_ value: ArraySlice<UInt8>) -> [ByteRange]? {
        var reader = FieldValueReader(value)
        reader.skipSpace()
        guard let unit = reader.token(), HTTPCharacters.areEqual(unit, "bytes"), reader.take("=") else { return nil }
        var ranges: [ByteRange] = []
        for element in ListElements(reader.rest) {
            guard ranges.count < maximumCount, let range = ByteRange(element) else { return nil }
            ranges.append(range)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// Parses a `Range` field value.
    package static func parse(_ text: String) -> [ByteRange]? { parse(Array(text.utf8)[...]) }

    private init?(_ element: ArraySlice<UInt8>) {
        var reader = FieldValueReader(element)
        let first = reader.number()
        guard reader.take("-") else { return nil }
        let last = reader.number()
        guard reader.isAtEnd else { return nil }
        switch (first, last) {
        case (nil, nil): return nil
        case (nil, let count?): self = .suffix(count)
        case (let first?, let last):
            guard first <= last ?? .max else { return nil }
            self = .from(first, through: last)
        }
    }

    /// Returns the positions that the range selects in content of this length; `nil` if the range is not satisfiable (RFC 9110 §14.1.1).
    package func positions(in length: Int) -> Range<Int>? {
        guard length > 0 else { return nil }
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(last ?? length - 1, length - 1) + 1
        case .suffix(let count): return count == 0 ? nil : max(0, length - count)..<length
        }
    }
}

/// A `Content-Range` value whose range unit is `bytes` (RFC 9110 §14.4).
package struct ContentRange: Equatable, Sendable {
    /// The positions that the content covers; `nil` in a response with status 416.
    package var positions: Range<Int>?
    /// The length of the whole representation; `nil` if the server does not know it.
    package var length: Int?

    package init(positions: Range<Int>?, length: Int?) {
        self.positions = positions
        self.length = length
    }

    /// Parses a field value. Returns `nil` if the unit is not bytes or the range is invalid.
    package init?(parsing value: ArraySlice<UInt8>) {
        var reader = FieldValueReader(HTTPCharacters.trimmed(value))
        guard let unit = reader.token(), HTTPCharacters.areEqual(unit, "bytes"),
            HTTPCharacters.isSpace(reader.next ?? 0)
        else { return nil }
        reader.skipSpace()
        if !reader.take("*") {
            guard let first = reader.number(), reader.take("-"), let last = reader.number(), first <= last, last < .max
            else { return nil }
            positions = first..<last + 1
        }
        guard reader.take("/") else { return nil }
        if !reader.take("*") {
            guard let length = reader.number(), length < .max, length >= positions?.upperBound ?? 0 else { return nil }
            self.length = length
        }
        guard reader.isAtEnd, positions != nil || length != nil else { return nil }
    }

    /// Parses a field value.
    package init?(parsing text: String) { self.init(parsing: Array(text.utf8)[...]) }

    /// The field value.
    package var text: String {
        let range = positions.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        return "bytes \(range)/" + (length.map { String($0) } ?? "*")
    }
}
