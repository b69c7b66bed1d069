/// A payload's fields: tag (1 byte), length (2 bytes, big-endian), value. Unknown tags are ignored, so that later versions can add fields.
package struct PeerFields: Equatable, Sendable {
    /// A malformed payload.
    package struct Malformed: Error, Equatable, Sendable {
        package var message: String
    }

    private var fields: [(tag: UInt8, value: ArraySlice<UInt8>)] = []

    package init() {}

    /// Decodes the fields of a frame's payload.
    package init(_ payload: [UInt8]) throws(Malformed) {
        var rest = payload[...]
        while !rest.isEmpty {
            guard rest.count >= 3 else { throw Malformed(message: "\(rest.count) bytes after the last field") }
            let head = rest.prefix(3)
            let length = Int(head.dropFirst().bigEndianInteger)
            rest = rest.dropFirst(3)
            guard rest.count >= length else { throw Malformed(message: "field \(head.first ?? 0) is truncated") }
            fields.append((head.first ?? 0, rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
    }

    package static func == (left: PeerFields, right: PeerFields) -> Bool { left.bytes == right.bytes }

    package var bytes: [UInt8] {
        fields.reduce(into: []) { output, field in
            output.append(field.tag)
            output += UInt16(truncatingIfNeeded: field.value.count).bigEndianBytes
            output += field.value
        }
    }

    // Writing fields

    package mutating func append(_ tag: UInt8, _ value: [UInt8]) {
        // The length field has 16 bits, so a longer value would be cut off here. This does not occur, because callers
        // enforce lower limits.
        fields.append((tag, value.prefix(Int(UInt16.max))))
    }

    package mutating func append(_ tag: UInt8, _ value: some FixedWidthInteger) { append(tag, value.bigEndianBytes) }

    package mutating func append(_ tag: UInt8, _ text: String) { append(tag, Array(text.utf8)) }

    package func with(_ tag: UInt8, _ value: [UInt8]) -> PeerFields {
        var copy = self
        copy.append(tag, value)
        return copy
    }

    package func with(_ tag: UInt8, _ value: some FixedWidthInteger) -> PeerFields { with(tag, value.bigEndianBytes) }

    // Functions that read the fields

    /// The first value with this tag.
    package subscript(tag: UInt8) -> [UInt8]? { fields.first { $0.tag == tag }.map { Array($0.value) } }

    package func all(_ tag: UInt8) -> [[UInt8]] { fields.filter { $0.tag == tag }.map { Array($0.value) } }

    /// Returns an unsigned integer; `nil` if the field is absent. The value must have exactly the type's width.
    package func integer<T: FixedWidthInteger & UnsignedInteger>(_ tag: UInt8, as type: T.Type = T.self)
        throws(Malformed) -> T?
    {
        guard let value = self[tag] else { return nil }
        guard value.count == T.bitWidth / 8 else { throw Malformed(message: "field \(tag) has \(value.count) bytes") }
        return T(truncatingIfNeeded: value.bigEndianInteger)
    }

    /// Returns UTF-8 text; `nil` if the field is absent.
    package func text(_ tag: UInt8, atMost limit: Int = PeerLimits.name) throws(Malformed) -> String? {
        guard let value = self[tag] else { return nil }
        guard value.count <= limit else {
            throw Malformed(message: "field \(tag) has \(value.count) bytes, at most \(limit)")
        }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw Malformed(message: "field \(tag) is not UTF-8")
        }
        return text
    }

    /// Returns a required value, or throws ``Malformed`` for `nil`.
    package func require<T>(_ value: T?, _ name: String) throws(Malformed) -> T {
        guard let value else { throw Malformed(message: "\(name) is missing") }
        return value
    }
}
