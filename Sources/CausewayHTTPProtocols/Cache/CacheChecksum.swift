/// A checksum against accidental damage to stored responses. It does not detect intended changes: the user owns the
/// cache files, and may change them and their checksums.
package struct CacheChecksum: Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Returns the checksum of a byte sequence.
    package static func of(_ bytes: RawSpan) -> UInt64 {
        var sum = CacheChecksum()
        sum.update(bytes)
        return sum.value
    }

    /// Returns the checksum of an array.
    package static func of(_ bytes: [UInt8]) -> UInt64 { unsafe of(bytes.span.bytes) }

    private mutating func update(_ bytes: RawSpan) {
        mix(UInt64(bytes.byteCount))
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
            mix(UInt64(littleEndian: word))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            rest = rest << 8 | UInt64(byte)
            offset += 1
        }
        mix(rest)
    }

    /// Mixes a word into the checksum state.
    ///
    /// For a given word, different states lead to different states. For a given state, different words lead to
    /// different states. So two inputs that differ in one word never have the same checksum.
    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
        state ^= state >> 32
    }

    private var value: UInt64 {
        let mixed = (state ^ state >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return mixed ^ mixed >> 33
    }
}
