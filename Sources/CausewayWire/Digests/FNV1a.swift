/// The FNV-1a hash functions (RFC 9923), for file names and for detecting accidental damage. The hash values do not
/// protect against forgery.
///
/// Files on disk contain hash values, so the functions must never change.
package enum FNV1a {
    /// Returns the 32-bit hash value.
    @inlinable package static func hash32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// Returns the 64-bit hash value.
    @inlinable package static func hash64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }
}
