/// A client payload's masking key (RFC 6455 §5.3, §10.3).
package struct WebSocketMask: Hashable, Sendable {
    /// The key in network byte order: the most significant byte is first on the wire.
    package var key: UInt32

    package init(key: UInt32) { self.key = key }

    /// Masks or unmasks `bytes` from index `start` on. Both are the same operation.
    ///
    /// - Parameter offset: The number of payload bytes before the byte at `start`. It must not be negative.
    package func apply(to bytes: inout [UInt8], from start: Int = 0, offset: Int = 0) {
        guard start < bytes.count else { return }
        var span = bytes.mutableSpan
        apply(to: &span, from: start, offset: offset)
    }

    /// Masks or unmasks a part of an array. The array is changed in place if no other variable shares its storage.
    package func apply(to bytes: inout ArraySlice<UInt8>, offset: Int = 0) {
        guard !bytes.isEmpty else { return }
        var span = bytes.mutableSpan
        apply(to: &span, from: 0, offset: offset)
    }

    private func apply(to bytes: inout MutableSpan<UInt8>, from start: Int, offset: Int) {
        // The first byte of the rotated key must belong to the byte at `start`. Convert the key to memory order as
        // well.
        let turn = UInt32(8 * (offset & 3))
        let turned = turn == 0 ? key : key << turn | key >> (32 - turn)
        let word = turned.bigEndian
        let wide = UInt64(word) << 32 | UInt64(word)
        var index = start
        let count = bytes.count
        // The unsafe loads are valid: the loop conditions keep them in bounds, and every bit pattern is a valid
        // integer.
        var bytes = unsafe bytes.mutableBytes
        while index + 8 <= count {
            let plain = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            bytes.storeBytes(of: plain ^ wide, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        var place: UInt32 = 0
        while index < count {
            let plain = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            let mixed = plain ^ UInt8(truncatingIfNeeded: turned >> (24 - 8 * (place & 3)))
            bytes.storeBytes(of: mixed, toByteOffset: index, as: UInt8.self)
            index += 1
            place += 1
        }
    }
}
