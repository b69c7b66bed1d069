/// Checks incrementally that bytes are UTF-8 (RFC 3629 §4).
///
/// Validation fails at the first invalid byte, so that a fragmented text message is rejected as early as RFC 6455 §8.1
/// allows.
package struct UTF8Validator: Equatable, Sendable {
    /// The number of continuation bytes still missing from the current character.
    private var missing: UInt8 = 0
    /// The smallest valid value for the next continuation byte. The range is narrower than 0x80...0xBF after a lead
    /// byte that could otherwise begin an overlong form, a surrogate or a number above U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF
    private var hasFailed = false

    package init() {}

    /// Whether the input so far ends at a character boundary.
    package var isAtBoundary: Bool { missing == 0 && !hasFailed }

    /// Checks the next bytes. Returns `false` if the input is not valid UTF-8. Once `false`, the result stays `false`.
    package mutating func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !hasFailed, !bytes.isEmpty else { return !hasFailed }
        let span = bytes.span
        // The unsafe loads are valid for two reasons: each UInt8 is one initialized byte, and the loop condition keeps
        // the loads in bounds.
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
