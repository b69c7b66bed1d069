/// Tells whether bytes are UTF-8 (RFC 3629 §4) while they arrive in pieces.
///
/// It fails at the first byte that no continuation can mend: a text message of many fragments is refused as early as
/// RFC 6455 §8.1 allows.
package struct UTF8Validator: Equatable, Sendable {
    /// Bytes that the character begun still needs.
    private var missing: UInt8 = 0
    /// What the next one of them may be: narrower than 0x80...0xBF after a lead byte whose range would else hold overlong forms,
    /// surrogates or numbers beyond U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF
    private var hasFailed = false

    package init() {}

    /// Whether no character is cut in two here.
    package var isAtBoundary: Bool { missing == 0 && !hasFailed }

    /// Looks at the next bytes. After `false` it stays `false`.
    package mutating func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !hasFailed, !bytes.isEmpty else { return !hasFailed }
        let span = bytes.span
        // Every UInt8 is one initialized byte; loads are in bounds by the loop's condition.
        let bytes = unsafe span.bytes
        var index = 0
        while index < span.count {
            if missing == 0 {
                while index + 8 <= span.count,
                    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080
                        == 0
                {
                    index += 8
                }
                guard index < span.count else { break }
            }
            guard accepts(span[index]) else {
                hasFailed = true
                return false
            }
            index += 1
        }
        return true
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        guard missing == 0 else {
            guard byte >= lowest, byte <= highest else { return false }
            missing -= 1
            (lowest, highest) = (0x80, 0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
