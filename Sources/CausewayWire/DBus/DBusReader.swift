/// Reads the values in one message (D-Bus Specification, "Marshaling").
///
/// The reader starts at the first byte of the message. It never traps, and returns at most ``valueLimit`` values.
struct DBusReader: ~Escapable {
    /// The maximum number of values that the reader returns from one message. A network manager's report on all its
    /// devices has far fewer values.
    static let valueLimit = 65_536

    private var reader: ByteReader
    private let isLittleEndian: Bool
    private var valuesLeft = Self.valueLimit

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, isLittleEndian: Bool) {
        reader = ByteReader(bytes)
        self.isLittleEndian = isLittleEndian
    }

    var isAtEnd: Bool { reader.isAtEnd }
    var position: Int { reader.position }

    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) throws(WireError) -> T {
        try align(to: MemoryLayout<T>.size)
        return isLittleEndian ? try reader.readLittleEndian() : try reader.readInteger()
    }

    /// Skips padding bytes, which must be zero.
    mutating func align(to alignment: Int) throws(WireError) {
        while reader.offset % alignment != 0 {
            guard try reader.readInteger(as: UInt8.self) == 0 else { throw .invalid("padding", at: reader.position) }
        }
    }

    mutating func value(_ type: DBusType, depth: Int = 0) throws(WireError) -> DBusValue {
        guard valuesLeft > 0 else { throw .invalid("number of values", at: reader.position) }
        guard depth <= DBusType.depthLimit else { throw .invalid("depth", at: reader.position) }
        valuesLeft -= 1
        switch type {
        case .byte: return .byte(try integer())
        case .boolean:
            let number: UInt32 = try integer()
            guard number <= 1 else { throw .invalid("truth value", at: reader.position) }
            return .boolean(number == 1)
        case .int16: return .int16(try integer())
        case .uint16: return .uint16(try integer())
        case .int32: return .int32(try integer())
        case .uint32: return .uint32(try integer())
        case .int64: return .int64(try integer())
        case .uint64: return .uint64(try integer())
        case .double: return .double(bits: try integer())
        case .string: return .string(try text())
        case .objectPath:
            let path = try text()
            guard DBusValue.isObjectPath(path) else { throw .invalid("object path", at: reader.position) }
            return .objectPath(path)
        case .signature: return .signature(try signature().bytes)
        case .variant: return .variant(try variant(depth))
        case .array(let element): return try array(of: element, depth)
        case .structure(let fields):
            try align(to: 8)
            var values: [DBusValue] = []
            for field in fields { values.append(try value(field, depth: depth + 1)) }
            return .structure(values)
        case .entry(let key, let content):
            try align(to: 8)
            return .entry(key: try value(key, depth: depth + 1), value: try value(content, depth: depth + 1))
        }
    }

    private mutating func variant(_ depth: Int) throws(WireError) -> DBusValue {
        let start = reader.position
        let types = try signature().types
        guard types.count == 1 else { throw .invalid("signature of a variant", at: start) }
        return try value(types[0], depth: depth + 1)
    }

    private mutating func array(of element: DBusType, _ depth: Int) throws(WireError) -> DBusValue {
        let byteCount: UInt32 = try integer()
        // The array's length is followed by padding that aligns the first element. The padding is present even if the
        // array is empty. The length does not count the padding.
        try align(to: element.alignment)
        guard byteCount <= reader.remaining else {
            throw .truncated(needed: Int(byteCount), available: reader.remaining, at: reader.position)
        }
        if element == .byte { return .bytes(try reader.readBytes(Int(byteCount))) }
        let end = reader.offset + Int(byteCount)
        var elements: [DBusValue] = []
        while reader.offset < end { elements.append(try value(element, depth: depth + 1)) }
        guard reader.offset == end else { throw .invalid("length of an array", at: reader.position) }
        return .array(element, elements)
    }

    private mutating func text() throws(WireError) -> String {
        let byteCount: UInt32 = try integer()
        let start = reader.position
        let bytes = try reader.readBytes(Int(byteCount))
        guard try reader.readInteger(as: UInt8.self) == 0, !bytes.contains(0),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .invalid("string", at: start) }
        return text
    }

    private mutating func signature() throws(WireError) -> (bytes: [UInt8], types: [DBusType]) {
        let byteCount: UInt8 = try reader.readInteger()
        let start = reader.position
        let bytes = try reader.readBytes(Int(byteCount))
        guard try reader.readInteger(as: UInt8.self) == 0, let types = DBusType.list(bytes) else {
            throw .invalid("signature", at: start)
        }
        return (bytes, types)
    }
}
