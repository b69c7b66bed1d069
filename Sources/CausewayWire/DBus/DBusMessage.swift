/// A D-Bus message (D-Bus Specification, "Message Protocol").
///
/// ```
///  0        1        2        3        4        8        12       16
/// +--------+--------+--------+--------+--------+--------+--------+----------+---------+------
/// | order  |  kind  | flags  |   1    | length | serial | length of fields, and fields | body
/// |        |        |        |        | of body|        | (an array of structures),    |
/// |        |        |        |        |        |        | padded to 8 bytes            |
/// +--------+--------+--------+--------+--------+--------+------------------------------+------
/// ```
package struct DBusMessage: Hashable, Sendable {
    /// The message type. This is not an enumeration, because receivers must ignore types that they do not know.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let call = Kind(rawValue: 1)
        package static let answer = Kind(rawValue: 2)
        package static let error = Kind(rawValue: 3)
        package static let signal = Kind(rawValue: 4)
    }

    /// The maximum message size that the parser accepts, in bytes. The specification allows 128 times as much, but
    /// replies to this library's queries are far smaller.
    package static let byteLimit = 1 << 20
    /// The size in bytes of a message's fixed prefix, which ``byteCount(of:)`` needs.
    package static let prefixByteCount = 16
    /// NO_AUTO_START: the bus must not start a program to deliver the message.
    package static let noAutoStart: UInt8 = 2

    package var kind: Kind
    package var flags: UInt8 = 0
    /// The sender's message number; never 0.
    package var serial: UInt32
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    /// The serial number of the call to which this message replies.
    package var replySerial: UInt32?
    package var destination: String?
    /// The sender's unique name. The bus itself sets this field.
    package var sender: String?
    package var body: [DBusValue] = []

    package init(_ kind: Kind, serial: UInt32) {
        self.kind = kind
        self.serial = serial
    }

    /// Returns the size in bytes of the message at the start of `bytes`; `nil` if there are fewer than
    /// ``prefixByteCount`` bytes.
    ///
    /// - Throws: ``WireError`` if the bytes are not a message, or if the message is longer than ``byteLimit``. After
    ///   either error, the position of the next message is unknown.
    package static func byteCount(of bytes: Span<UInt8>) throws(WireError) -> Int? {
        guard bytes.count >= prefixByteCount else { return nil }
        var reader = DBusReader(bytes, isLittleEndian: try isLittleEndian(bytes[0]))
        return try Prefix(&reader).byteCount
    }

    /// Parses a message that fills `bytes`.
    package init(parsing bytes: Span<UInt8>) throws(WireError) {
        guard bytes.count >= Self.prefixByteCount else {
            throw .truncated(needed: Self.prefixByteCount, available: bytes.count, at: 0)
        }
        let isLittleEndian = try Self.isLittleEndian(bytes[0])
        var beginning = DBusReader(bytes, isLittleEndian: isLittleEndian)
        let prefix = try Prefix(&beginning)
        guard prefix.byteCount == bytes.count else { throw .invalid("length of the message", at: 4) }
        self.init(prefix.kind, serial: prefix.serial)
        flags = prefix.flags
        var reader = DBusReader(bytes, isLittleEndian: isLittleEndian)
        for _ in 0..<3 { _ = try reader.integer(UInt32.self) }
        var types: [DBusType] = []
        let fields = try reader.value(.array(.structure([.byte, .variant])))
        for field in fields.elements { try adopt(field, &types) }
        try reader.align(to: 8)
        guard reader.position == bytes.count - prefix.bodyByteCount else {
            throw .invalid("length of the header", at: reader.position)
        }
        for type in types { body.append(try reader.value(type)) }
        guard reader.isAtEnd else { throw .invalid("length of the body", at: reader.position) }
    }

    private mutating func adopt(_ field: DBusValue, _ types: inout [DBusType]) throws(WireError) {
        guard field.fields.count == 2, case .byte(let code) = field.fields[0],
            case .variant(let value) = field.fields[1]
        else { return }
        switch (code, value) {
        case (1, .objectPath(let path)): self.path = path
        case (2, .string(let name)): interface = name
        case (3, .string(let name)): member = name
        case (4, .string(let name)): errorName = name
        case (5, .uint32(let serial)): replySerial = serial
        case (6, .string(let name)): destination = name
        case (7, .string(let name)): sender = name
        case (8, .signature(let signature)): types = DBusType.list(signature) ?? []
        case (1...8, _): throw .invalid("type of header field \(code)", at: Self.prefixByteCount)
        // Ignore header fields from later protocol versions.
        default: break
        }
    }

    private static func isLittleEndian(_ byte: UInt8) throws(WireError) -> Bool {
        switch byte {
        case UInt8(ascii: "l"): return true
        case UInt8(ascii: "B"): return false
        default: throw .invalid("byte order", at: 0)
        }
    }
}

/// The fixed prefix of every message.
private struct Prefix {
    let kind: DBusMessage.Kind
    let flags: UInt8
    let serial: UInt32
    let bodyByteCount: Int
    let byteCount: Int

    init(_ reader: inout DBusReader) throws(WireError) {
        _ = try reader.integer(UInt8.self)
        kind = DBusMessage.Kind(rawValue: try reader.integer())
        flags = try reader.integer()
        guard try reader.integer(UInt8.self) == 1 else { throw .invalid("version", at: 3) }
        bodyByteCount = Int(try reader.integer(UInt32.self))
        serial = try reader.integer()
        let fields = Int(try reader.integer(UInt32.self))
        guard kind.rawValue != 0, serial != 0 else { throw .invalid("kind or serial", at: 1) }
        byteCount = DBusMessage.prefixByteCount + (fields + 7) / 8 * 8 + bodyByteCount
        guard byteCount <= DBusMessage.byteLimit else { throw .invalid("length of the message", at: 4) }
    }
}

extension DBusMessage {
    /// The message in wire format.
    package var encoded: [UInt8] {
        var writer = DBusWriter()
        for byte in [UInt8(ascii: "l"), kind.rawValue, flags, 1] { writer.append(byte) }
        writer.append(UInt32(0))
        writer.append(serial)
        writer.append(.array(.structure([.byte, .variant]), headerFields))
        writer.align(to: 8)
        let start = writer.bytes.count
        for value in body { writer.append(value) }
        writer.set(UInt32(truncatingIfNeeded: writer.bytes.count - start), at: 4)
        return writer.bytes
    }

    private var headerFields: [DBusValue] {
        let signature = Array(body.map(\.type.code).joined().utf8)
        let fields: [(code: UInt8, value: DBusValue?)] = [
            (1, path.map { .objectPath($0) }), (2, interface.map { .string($0) }), (3, member.map { .string($0) }),
            (4, errorName.map { .string($0) }), (5, replySerial.map { .uint32($0) }),
            (6, destination.map { .string($0) }), (7, sender.map { .string($0) }),
            (8, signature.isEmpty ? nil : .signature(signature)),
        ]
        return fields.compactMap { field in
            field.value.map { .structure([.byte(field.code), .variant($0)]) }
        }
    }
}
