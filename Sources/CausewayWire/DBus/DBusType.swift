/// A D-Bus value's type (D-Bus Specification, "Type System").
///
/// All types except the file descriptor are supported. Descriptors need a negotiation between both peers, which this
/// library omits.
package indirect enum DBusType: Hashable, Sendable {
    case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature, variant
    case array(DBusType)
    /// A structure with at least one field.
    case structure([DBusType])
    /// A dictionary entry. It occurs only as an array element, and its key has a basic type.
    case entry(key: DBusType, value: DBusType)

    /// Maximum container nesting depth, including variants and their contents. The specification allows 64.
    package static let depthLimit = 32
    /// Maximum signature size in bytes.
    static let signatureLimit = 255

    private static let basics: [UInt8: DBusType] = [
        UInt8(ascii: "y"): .byte, UInt8(ascii: "b"): .boolean, UInt8(ascii: "n"): .int16, UInt8(ascii: "q"): .uint16,
        UInt8(ascii: "i"): .int32, UInt8(ascii: "u"): .uint32, UInt8(ascii: "x"): .int64, UInt8(ascii: "t"): .uint64,
        UInt8(ascii: "d"): .double, UInt8(ascii: "s"): .string, UInt8(ascii: "o"): .objectPath,
        UInt8(ascii: "g"): .signature,
    ]

    /// The type's alignment in bytes, counted from the start of the message.
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .string, .objectPath, .array: 4
        case .int64, .uint64, .double, .structure, .entry: 8
        }
    }

    /// The type's signature.
    package var code: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .variant: "v"
        case .array(let element): "a" + element.code
        case .structure(let fields): "(" + fields.map(\.code).joined() + ")"
        case .entry(let key, let value): "{" + key.code + value.code + "}"
        }
    }

    /// Parses a signature and returns its types; `nil` if the signature is invalid or nests deeper than ``depthLimit``.
    package static func list(_ signature: [UInt8]) -> [DBusType]? {
        guard signature.count <= signatureLimit else { return nil }
        var (rest, types) = (signature[...], [DBusType]())
        while !rest.isEmpty {
            guard let type = next(&rest, isElement: false, depth: 0) else { return nil }
            types.append(type)
        }
        return types
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, isElement: Bool, depth: Int) -> DBusType? {
        guard let first = rest.popFirst(), depth <= depthLimit else { return nil }
        switch first {
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "a"): return next(&rest, isElement: true, depth: depth + 1).map { .array($0) }
        case UInt8(ascii: "("):
            var fields: [DBusType] = []
            while rest.first != UInt8(ascii: ")") {
                guard let field = next(&rest, isElement: false, depth: depth + 1) else { return nil }
                fields.append(field)
            }
            rest.removeFirst()
            return fields.isEmpty ? nil : .structure(fields)
        case UInt8(ascii: "{"):
            guard isElement, let key = rest.popFirst().flatMap({ basics[$0] }),
                let value = next(&rest, isElement: false, depth: depth + 1),
                rest.popFirst() == UInt8(ascii: "}")
            else { return nil }
            return .entry(key: key, value: value)
        default: return basics[first]
        }
    }
}
