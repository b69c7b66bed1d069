/// Writes one message's values in little-endian byte order (D-Bus Specification, "Marshaling").
struct DBusWriter {
    private(set) var bytes: [UInt8] = []

    mutating func align(to alignment: Int) {
        while bytes.count % alignment != 0 { bytes.append(0) }
    }

    mutating func append<T: FixedWidthInteger>(_ value: T) {
        align(to: T.bitWidth / 8)
        for index in 0..<(T.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: value >> T(8 * index))) }
    }

    mutating func append(signature: [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: signature.count))
        bytes += signature
        bytes.append(0)
    }

    mutating func append(_ value: DBusValue) {
        switch value {
        case .byte(let number): append(number)
        case .boolean(let isTrue): append(UInt32(isTrue ? 1 : 0))
        case .int16(let number): append(number)
        case .uint16(let number): append(number)
        case .int32(let number): append(number)
        case .uint32(let number): append(number)
        case .int64(let number): append(number)
        case .uint64(let number), .double(let number): append(number)
        case .string(let text), .objectPath(let text):
            append(UInt32(truncatingIfNeeded: text.utf8.count))
            bytes += text.utf8
            bytes.append(0)
        case .signature(let signature): append(signature: signature)
        case .bytes(let content):
            append(UInt32(truncatingIfNeeded: content.count))
            bytes += content
        case .array(let element, let values): append(values, alignment: element.alignment)
        case .structure(let fields):
            align(to: 8)
            for field in fields { append(field) }
        case .entry(let key, let content):
            align(to: 8)
            append(key)
            append(content)
        case .variant(let content):
            append(signature: Array(content.type.code.utf8))
            append(content)
        }
    }

    private mutating func append(_ elements: [DBusValue], alignment: Int) {
        append(UInt32(0))
        let place = bytes.count - 4
        align(to: alignment)
        let start = bytes.count
        for element in elements { append(element) }
        set(UInt32(truncatingIfNeeded: bytes.count - start), at: place)
    }

    /// Writes `value` over the placeholder at `place`. The value was not known when the placeholder was written.
    mutating func set(_ value: UInt32, at place: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
    }
}
