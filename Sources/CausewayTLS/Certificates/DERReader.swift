/// A DER syntax error, with a human-readable description.
struct DERError: Error, Hashable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Reads DER values (ITU-T X.690) strictly and within bounds.
struct DERReader {
    struct Value {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        /// The whole encoded value: tag, length and content.
        let encoding: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    var nextTag: UInt8? { rest.first }

    /// Reads the next value of any type.
    mutating func next() throws(DERError) -> Value {
        let bytes = rest
        guard bytes.count >= 2 else { throw DERError("truncated value") }
        let tag = bytes[bytes.startIndex]
        guard tag & 0x1f != 0x1f else { throw DERError("unsupported multi-byte tag") }
        var start = bytes.startIndex + 2
        var count = Int(bytes[start - 1])
        if count >= 0x80 {
            let digits = count & 0x7f
            guard (1...4).contains(digits), bytes.endIndex - start >= digits else {
                throw DERError("malformed length")
            }
            count = bytes[start..<(start + digits)].reduce(0) { $0 << 8 | Int($1) }
            // The length must have its shortest form (X.690 §10.1).
            guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else {
                throw DERError("length not in its shortest form")
            }
            start += digits
        }
        guard bytes.endIndex - start >= count else { throw DERError("truncated value") }
        let end = start + count
        rest = bytes[end...]
        return Value(tag: tag, content: bytes[start..<end], encoding: bytes[bytes.startIndex..<end])
    }

    /// Reads the next value, which must have the tag `tag`, and returns its content.
    mutating func next(_ tag: UInt8) throws(DERError) -> ArraySlice<UInt8> {
        let value = try next()
        guard value.tag == tag else { throw DERError("unexpected tag") }
        return value.content
    }

    /// Reads the next value if it has the tag `tag`. Otherwise returns `nil` and consumes nothing.
    mutating func optional(_ tag: UInt8) throws(DERError) -> ArraySlice<UInt8>? {
        guard nextTag == tag else { return nil }
        return try next(tag)
    }

    /// Checks that no bytes are left.
    func end() throws(DERError) {
        guard rest.isEmpty else { throw DERError("unexpected trailing data") }
    }

    /// Calls `body` repeatedly, until it has read all values in the list.
    static func all(
        _ bytes: ArraySlice<UInt8>, _ body: (inout DERReader) throws(DERError) -> Void
    ) throws(DERError) {
        var reader = DERReader(bytes)
        while !reader.isAtEnd { try body(&reader) }
    }

    /// Reads an integer from 0 to 2^31 - 1.
    mutating func smallNumber(_ tag: UInt8 = DERTag.integer) throws(DERError) -> Int {
        let content = try next(tag)
        guard let first = content.first, first < 0x80, content.count <= 5 else {
            throw DERError("integer out of range")
        }
        guard content.count == 1 || first != 0 || content[content.startIndex + 1] >= 0x80 else {
            throw DERError("integer not in its shortest form")
        }
        let value = content.reduce(0) { $0 << 8 | Int($1) }
        guard value <= Int(Int32.max) else { throw DERError("integer out of range") }
        return value
    }

    mutating func boolean() throws(DERError) -> Bool {
        let content = try next(DERTag.boolean)
        guard content.count == 1, content.first == 0 || content.first == 0xff else {
            throw DERError("malformed Boolean")
        }
        return content.first == 0xff
    }
}

enum DERTag {
    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let bits: UInt8 = 0x03
    static let bytes: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
}
