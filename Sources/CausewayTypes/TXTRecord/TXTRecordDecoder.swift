internal import FoundationEssentials

/// Decodes values of `Decodable` types from TXT records.
///
/// Each key of the record corresponds to a key of the type; the comparison ignores ASCII case. Text decodes as `String`; integers,
/// floating-point numbers and URLs are parsed from text; bytes decode as `[UInt8]` or `Data`. A `Bool` is parsed from `true`, `false`, `1`
/// and `0`; a key without a value is `true` (RFC 6763 §6.4). A missing key is `nil` if the type allows that.
///
/// ```swift
/// struct Printer: Decodable { let rp: String, qtotal: Int?, color: Bool }
/// ```
///
/// Counterpart: macOS 15, iOS 18.
public struct TXTRecordDecoder: Sendable {
    /// Creates a decoder.
    public init() {}

    /// Decodes a value from a record.
    ///
    /// - Throws: `DecodingError` if a key is missing, a value has the wrong format, or the type needs nested structure.
    public func decode<T>(_ type: T.Type, from txtRecord: NWTXTRecord) throws -> T where T: Decodable {
        try T(from: RecordDecoder(record: txtRecord))
    }
}

/// Decodes a type whose coding keys are keys of the record.
private struct RecordDecoder: Decoder {
    let record: NWTXTRecord
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordContainer(record: record))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.unsupported([Any].self, [])
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw DecodingError.unsupported(Any.self, [])
    }
}

private struct RecordContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: NWTXTRecord
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { record.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { record.getEntry(for: key.stringValue) != nil }

    // A key without a value means "present", so only a missing key is `nil`.
    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let entry = record.getEntry(for: key.stringValue) else {
            let text = "The record has no key \(key.stringValue)."
            throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: [], debugDescription: text))
        }
        return try EntryDecoder(entry: entry, codingPath: [key]).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw DecodingError.unsupported([String: Any].self, [key])
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw DecodingError.unsupported([Any].self, [key])
    }

    func superDecoder() throws -> any Decoder { RecordDecoder(record: record) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        guard let entry = record.getEntry(for: key.stringValue) else {
            throw DecodingError.unsupported(Any.self, [key])
        }
        return EntryDecoder(entry: entry, codingPath: [key])
    }
}

/// Decodes the value of one key.
private struct EntryDecoder: Decoder, SingleValueDecodingContainer {
    let entry: NWTXTRecord.Entry
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw DecodingError.unsupported([String: Any].self, codingPath)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.unsupported([Any].self, codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let value = value(of: type) as? T { return value }
        guard !Self.scalars.contains(ObjectIdentifier(type)) else { throw mismatch(type) }
        return try T(from: self)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    func decode(_ type: String.Type) throws -> String { try scalar(type) }
    func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }

    private func scalar<T>(_ type: T.Type) throws -> T {
        guard let value = value(of: type) as? T else { throw mismatch(type) }
        return value
    }

    /// The types that this decoder itself converts from text or bytes. If the conversion fails, the decoder does not
    /// call the type's `init(from:)`. That would fail in the same way, or would ask for nested structure.
    private static let scalars: Set<ObjectIdentifier> = Set(
        [
            Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self,
            UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, Data.self, [UInt8].self, URL.self,
        ].map { (type: Any.Type) in ObjectIdentifier(type) })

    /// Returns the value as one of the supported scalar types.
    private func value(of type: Any.Type) -> Any? {
        if type == Data.self { return entry.data ?? Data() }
        if type == [UInt8].self { return Array(entry.data ?? Data()) }
        if type == Bool.self { return truth }
        guard let text = entry.text else { return nil }
        if type == String.self { return text }
        if type == URL.self { return URL(string: text) }
        if let type = type as? any FixedWidthInteger.Type { return integer(type, text) }
        if type == Double.self { return Double(text) }
        return type == Float.self ? Float(text) : nil
    }

    private var truth: Bool? {
        if entry == .none { return true }
        switch entry.text?.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default: return nil
        }
    }

    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ text: String) -> Any? {
        Integer(text, radix: 10)
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let text = "\(entry.debugDescription) is not a valid \(type)."
        return .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}

extension DecodingError {
    fileprivate static func unsupported(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        let text = "A TXT record cannot hold nested values."
        return .typeMismatch(type, Context(codingPath: path, debugDescription: text))
    }
}
