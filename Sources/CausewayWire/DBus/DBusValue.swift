/// A value on the message bus (D-Bus Specification, "Type System").
package enum DBusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    /// The bits of an IEEE 754 double. The library does not interpret them.
    case double(bits: UInt64)
    case string(String)
    case objectPath(String)
    case signature([UInt8])
    /// A byte array, stored compactly and not as one value per byte.
    case bytes([UInt8])
    /// An array's element type and its elements. The type is stored separately because an array can be empty.
    case array(DBusType, [DBusValue])
    case structure([DBusValue])
    indirect case entry(key: DBusValue, value: DBusValue)
    indirect case variant(DBusValue)

    package var type: DBusType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .bytes: .array(.byte)
        case .array(let element, _): .array(element)
        case .structure(let fields): .structure(fields.map(\.type))
        case .entry(let key, let value): .entry(key: key.type, value: value.type)
        case .variant: .variant
        }
    }
}

extension DBusValue {
    /// The text, if the value is a string or object path, or a variant that contains one; `nil` for all other types.
    package var text: String? {
        switch content {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }

    /// The number, if the value has the type `uint32` or is a variant that contains such a value; `nil` for all other types.
    package var uint32: UInt32? {
        if case .uint32(let number) = content { number } else { nil }
    }

    /// The elements, if the value is an array or a variant that contains one; empty for byte arrays and all other types.
    package var elements: [DBusValue] {
        if case .array(_, let elements) = content { elements } else { [] }
    }

    /// A structure's fields; empty for other values.
    package var fields: [DBusValue] {
        if case .structure(let fields) = content { fields } else { [] }
    }

    /// The entries in a dictionary with string keys; empty for all other values. If a key occurs more than once, the
    /// final entry with the key is used.
    package var dictionary: [String: DBusValue] {
        var found: [String: DBusValue] = [:]
        for case .entry(let key, let value) in elements {
            if let key = key.text { found[key] = value }
        }
        return found
    }

    /// The value inside the outermost variant; the value itself if it is not a variant.
    private var content: DBusValue {
        if case .variant(let inner) = self { inner } else { self }
    }

    /// Whether `path` is a valid object path.
    package static func isObjectPath(_ path: String) -> Bool {
        guard path.utf8.first == UInt8(ascii: "/") else { return false }
        if path == "/" { return true }
        return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(isNameByte)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
