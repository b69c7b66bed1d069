/// Encodes bytes as Base64 or Base32 digits, without padding (RFC 4648).
struct DigitCoding: Sendable {
    /// Base64 with `-` and `_` (RFC 4648 §5).
    static let base64URL = DigitCoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", bitCount: 6)
    /// Base 32 in upper case (RFC 4648 §6).
    static let base32 = DigitCoding("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bitCount: 5)

    private let digits: [UInt8]
    /// Digit values by character; 255 for other characters.
    private let values: [UInt8]
    private let bitCount: UInt32

    private init(_ alphabet: String, bitCount: UInt32) {
        digits = Array(alphabet.utf8)
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
        self.bitCount = bitCount
    }

    func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= bitCount {
                count -= bitCount
                text.append(digits[Int(bits >> count) & (digits.count - 1)])
            }
            bits &= (1 << count) - 1
        }
        if count > 0 { text.append(digits[Int(bits << (bitCount - count))]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text. Returns `nil` if a character is not a digit of this encoding, or the text is not in canonical form
    /// (RFC 4648 §3.5).
    func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for character in text {
            let value = values[Int(character)]
            guard value != 255 else { return nil }
            bits = bits << bitCount | UInt32(value)
            count += bitCount
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return count < bitCount && bits == 0 ? bytes : nil
    }
}
