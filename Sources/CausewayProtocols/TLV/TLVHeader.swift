/// The type and the length that stand before a value, both in network byte order.
///
/// Types go up to `Int.max`, and so do lengths: a peer's larger number is refused, whatever its width.
package struct TLVHeader: Equatable, Sendable {
    /// Bytes of the type; 0 for none.
    package let typeWidth: Int
    /// Bytes of the length.
    package let lengthWidth: Int

    /// - Precondition: Widths are 0 to 16, and that of the length is not 0.
    package init(typeWidth: Int = 4, lengthWidth: Int = 4) {
        precondition((0...16).contains(typeWidth) && (1...16).contains(lengthWidth), "no width of an integer")
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

    /// - Parameter bytes: At least ``byteCount``.
    /// - Returns: `nil` for a number above `Int.max`.
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
