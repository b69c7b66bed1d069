/// The type and length before a value, both in network byte order.
///
/// Types and lengths go up to `Int.max`. The decoder rejects larger values, even if the field is wide enough for them.
package struct TLVHeader: Equatable, Sendable {
    /// The type's width in bytes; 0 if the header has no type.
    package let typeWidth: Int
    /// The width of the length field in bytes.
    package let lengthWidth: Int

    /// - Precondition: Both widths are at most 16; the length's width is at least 1.
    package init(typeWidth: Int = 4, lengthWidth: Int = 4) {
        precondition((0...16).contains(typeWidth) && (1...16).contains(lengthWidth), "width out of range")
        self.typeWidth = typeWidth
        self.lengthWidth = lengthWidth
    }

    package var byteCount: Int { typeWidth + lengthWidth }

    package var largestType: UInt64 { Self.largest(typeWidth) }
    package var largestLength: UInt64 { Self.largest(lengthWidth) }

    private static func largest(_ width: Int) -> UInt64 {
        width >= 8 ? UInt64(Int64.max) : (1 << (8 * UInt64(width))) - 1
    }

    package func encode(_ values: TLVMetadata) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        Self.append(values.type, typeWidth, to: &bytes)
        Self.append(values.length, lengthWidth, to: &bytes)
        return bytes
    }

    /// Decodes a header.
    ///
    /// - Parameter bytes: At least ``byteCount`` bytes.
    /// - Returns: `nil` if the type or the length is above `Int.max`.
    package func decode(_ bytes: ArraySlice<UInt8>) -> TLVMetadata? {
        guard bytes.count >= byteCount, let type = Self.number(bytes.prefix(typeWidth)),
            let length = Self.number(bytes.dropFirst(typeWidth).prefix(lengthWidth))
        else { return nil }
        return TLVMetadata(type: type, length: length)
    }

    private static func append(_ value: UInt64, _ width: Int, to bytes: inout [UInt8]) {
        for position in (0..<width).reversed() {
            bytes.append(position >= 8 ? 0 : UInt8(truncatingIfNeeded: value >> (8 * UInt64(position))))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in bytes {
            guard value <= UInt64(Int64.max) >> 8 else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return value
    }
}
