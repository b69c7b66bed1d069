internal import CausewayWire

/// The protocol's digests and message authentication codes.
package enum PeerDigest {
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = SHA256()
        // This is safe: the array is read as raw bytes, and a `UInt8` has no padding bytes.
        unsafe digest.update(bytes.span.bytes)
        return digest.finish()
    }

    /// HMAC with SHA-256 (RFC 2104 §2).
    package static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? sha256(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = sha256(block.map { $0 ^ 0x36 } + message)
        return sha256(block.map { $0 ^ 0x5C } + inner)
    }

    /// Compares in constant time for equal lengths, so that timing does not reveal the first difference.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension FixedWidthInteger {
    /// The integer's bytes in network byte order.
    var bigEndianBytes: [UInt8] {
        stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }
}

extension Collection where Element == UInt8 {
    /// The bytes as an integer in network byte order. If there are more than 8 bytes, only the last 8 count.
    var bigEndianInteger: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
