/// Computes and checks opening handshake keys (RFC 6455 §4.2.2).
///
/// SHA-1 is implemented here because the standard library has no digests, this layer does not import Foundation, and WebSocket without TLS
/// must work without OpenSSL. Use this implementation of SHA-1 only for `Sec-WebSocket-Accept`, where SHA-1 has no security
/// function: the value of this field only shows that the server understands WebSocket.
package enum WebSocketAccept {
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Returns the `Sec-WebSocket-Accept` value for a key.
    package static func value(for key: String) -> String {
        Base64.encode(sha1(Array((key + suffix).utf8)))
    }

    /// Creates a random key: 16 bytes in Base64 (RFC 6455 §4.1).
    package static func key(using random: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: random.next() as UInt64)
        bytes.append(bigEndian: random.next() as UInt64)
        return Base64.encode(bytes)
    }

    /// Whether `text` encodes 16 bytes in Base64.
    package static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[22] == UInt8(ascii: "="), bytes[23] == UInt8(ascii: "=") else { return false }
        // The last digit before the padding carries only two bits of data. So its other four bits must be zero, which
        // leaves four possible digits.
        guard bytes[..<22].allSatisfy(Base64.isDigit) else { return false }
        return [UInt8(ascii: "A"), UInt8(ascii: "Q"), UInt8(ascii: "g"), UInt8(ascii: "w")].contains(bytes[21])
    }

    /// Computes a SHA-1 digest (RFC 3174 §6.1).
    static func sha1(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded.append(bigEndian: UInt64(message.count) * 8)
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            addBlock(padded[start..<(start + 64)], to: &hash)
        }
        var digest: [UInt8] = []
        for word in hash { digest.append(bigEndian: word) }
        return digest
    }

    private static func addBlock(_ block: ArraySlice<UInt8>, to hash: inout [UInt32]) {
        var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append((words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotatedLeft(1))
        }
        var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
        for (index, word) in words.enumerated() {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case 0..<20: ((b & c) | (~b & d), 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = a.rotatedLeft(5) &+ mixed &+ e &+ word &+ constant
            (a, b, c, d, e) = (next, a, b.rotatedLeft(30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { hash[index] = hash[index] &+ value }
    }
}

extension UInt32 {
    fileprivate func rotatedLeft(_ bits: UInt32) -> UInt32 { self << bits | self >> (32 - bits) }
}
