/// A JSON value (RFC 8259), parsed with limits on depth, count and size.
enum JSONValue: Equatable, Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case number(String)
    case boolean(Bool)
    case null

    /// Returns an object's member with this name; `nil` if there is no such member, or if this value is not an object.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text of a string or a number; `nil` for other values.
    var text: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .object, .array, .boolean, .null: nil
        }
    }

    /// An array's elements; empty for other values.
    var elements: [JSONValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }
}

/// Parses JSON. Parsing ends at the first violation of the syntax. The values before the violation are kept.
struct JSONReader: Sendable {
    private let bytes: [UInt8]
    private var index = 0
    private var remainingValues: Int
    /// The first violation's offset and description.
    private(set) var problem: (offset: Int, message: String)?

    private static let depth = 64
    /// Maximum bytes to keep per text. The rest is dropped.
    private let textByteCount: Int

    init(_ bytes: [UInt8], maximumValues: Int = 200_000, textByteCount: Int) {
        self.bytes = bytes
        self.textByteCount = textByteCount
        remainingValues = maximumValues
    }

    /// Returns the document's value.
    mutating func read() -> JSONValue {
        let value = value(depth: 0)
        skipSpace()
        if index < bytes.count { fail("characters after the end of the document") }
        return value
    }

    private mutating func fail(_ message: String) {
        if problem == nil { problem = (index, message) }
        index = bytes.count
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || (bytes[index] >= 0x09 && bytes[index] <= 0x0D) { index += 1 }
    }

    private mutating func value(depth: Int) -> JSONValue {
        skipSpace()
        guard index < bytes.count else {
            fail("the document ends inside of a value")
            return .null
        }
        remainingValues -= 1
        guard remainingValues > 0, depth < Self.depth else {
            fail(depth < Self.depth ? "too many values" : "values are nested too deep")
            return .null
        }
        switch bytes[index] {
        case 0x7B: return object(depth: depth)
        case 0x5B: return array(depth: depth)
        case 0x22: return .string(string())
        default: return word()
        }
    }

    private mutating func object(depth: Int) -> JSONValue {
        var members: [String: JSONValue] = [:]
        index += 1
        while true {
            skipSpace()
            if take(0x7D) { return .object(members) }
            guard index < bytes.count, bytes[index] == 0x22 else {
                fail("a name of a member is expected")
                return .object(members)
            }
            let name = string()
            skipSpace()
            guard take(0x3A) else {
                fail("':' is expected")
                return .object(members)
            }
            let value = value(depth: depth + 1)
            if members[name] == nil { members[name] = value }
            skipSpace()
            guard take(0x2C) || (index < bytes.count && bytes[index] == 0x7D) else {
                fail("',' or '}' is expected")
                return .object(members)
            }
        }
    }

    private mutating func array(depth: Int) -> JSONValue {
        var elements: [JSONValue] = []
        index += 1
        while true {
            skipSpace()
            if take(0x5D) { return .array(elements) }
            guard problem == nil, index < bytes.count else {
                fail("the document ends inside of an array")
                return .array(elements)
            }
            let start = index
            let value = value(depth: depth + 1)
            // Parsing may have ended inside this array element. In that case, keep the part of the element that was
            // read.
            if problem == nil || index > start { elements.append(value) }
            skipSpace()
            guard take(0x2C) || (index < bytes.count && bytes[index] == 0x5D) else {
                fail("',' or ']' is expected")
                return .array(elements)
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func word() -> JSONValue {
        let start = index
        while index < bytes.count, !Self.ends.contains(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index].prefix(64), as: UTF8.self)
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default:
            guard let first = text.utf8.first, first == 0x2D || (first >= 0x30 && first <= 0x39) else {
                index = start
                fail("a value is expected")
                return .null
            }
            return .number(text)
        }
    }

    private static let ends: Set<UInt8> = [0x2C, 0x5D, 0x7D, 0x3A, 0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]

    private mutating func string() -> String {
        index += 1
        var result: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case 0x22: return String(decoding: result, as: UTF8.self)
            case 0x5C: escape(&result)
            default: if result.count < textByteCount { result.append(byte) }
            }
        }
        fail("the document ends inside of a string")
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func escape(_ result: inout [UInt8]) {
        guard index < bytes.count else { return }
        let byte = bytes[index]
        index += 1
        guard result.count < textByteCount else { return }
        switch byte {
        case 0x6E: result.append(0x0A)
        case 0x74: result.append(0x09)
        case 0x72: result.append(0x0D)
        case 0x62: result.append(0x08)
        case 0x66: result.append(0x0C)
        case 0x75: result += Array(String(scalar()).utf8)
        default: result.append(byte)
        }
    }

    private mutating func unit() -> UInt32? {
        guard index + 4 <= bytes.count else { return nil }
        let digits = bytes[index..<(index + 4)]
        // Reject a sign, which `UInt32` would accept.
        guard digits.first != 0x2B, digits.first != 0x2D,
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        index += 4
        return value
    }

    /// Reads the digits after "\u", and the second half of a surrogate pair (RFC 8259 §7).
    private mutating func scalar() -> Unicode.Scalar {
        guard let high = unit() else { return "\u{FFFD}" }
        guard high >= 0xD800, high <= 0xDBFF, index + 1 < bytes.count, bytes[index] == 0x5C, bytes[index + 1] == 0x75
        else {
            return Unicode.Scalar(high) ?? "\u{FFFD}"
        }
        let mark = index
        index += 2
        guard let low = unit(), low >= 0xDC00, low <= 0xDFFF else {
            index = mark
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }
}
