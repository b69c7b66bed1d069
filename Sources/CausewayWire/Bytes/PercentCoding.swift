/// Percent-encoding (RFC 3986 §2.1).
package enum PercentCoding {
    private static let sign = UInt8(ascii: "%")

    // MARK: Encoding

    /// Encodes every byte that `isAllowed` rejects. The result is ASCII if only ASCII bytes are allowed.
    @inlinable package static func encoded(_ bytes: some Collection<UInt8>, where isAllowed: (UInt8) -> Bool) -> String
    {
        // A fast path for text that needs no encoding, as most text does not.
        bytes.allSatisfy(isAllowed) ? String(decoding: bytes, as: UTF8.self) : encodedEach(Array(bytes), isAllowed)
    }

    @usableFromInline static func encodedEach(_ bytes: [UInt8], _ isAllowed: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 2)
        for byte in bytes {
            if isAllowed(byte) { result.append(byte) } else { appendEncoded(byte, to: &result) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encodes `text` for use as one path segment. Only unreserved bytes stay as they are (RFC 3986 §2.3).
    package static func encoded(_ text: String) -> String { encoded(text.utf8, where: isUnreserved) }

    /// Appends a percent sign and two digits.
    package static func appendEncoded(_ byte: UInt8, to result: inout [UInt8]) {
        result.append(sign)
        Hexadecimal.append(byte, to: &result, isUppercase: true)
    }

    /// Returns whether `byte` is unreserved (RFC 3986 §2.3).
    @inlinable package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    // MARK: Decoding

    /// Decodes a text. Returns `nil` if an escape is malformed or the result is not UTF-8.
    ///
    /// - Parameter plusIsSpace: Whether a plus sign is a space, as in forms (WHATWG URL §5.1).
    package static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        guard text.utf8.contains(where: { $0 == sign || plusIsSpace && $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        let plain = plusIsSpace ? text.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 } : Array(text.utf8)
        return bytes(plain).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes bytes. Returns `nil` if a percent sign is not followed by two hexadecimal digits.
    package static func bytes(_ encoded: some Sequence<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            guard byte == sign else {
                result.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hexadecimal.value), let low = rest.next().flatMap(Hexadecimal.value)
            else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }

    /// Decodes bytes. A percent sign that is not followed by two hexadecimal digits is kept.
    @inlinable package static func bytesKeepingMalformed(_ encoded: some Collection<UInt8>) -> [UInt8] {
        decodedKeepingMalformed(Array(encoded))
    }

    @usableFromInline static func decodedKeepingMalformed(_ input: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(input.count)
        var index = 0
        while index < input.count {
            if input[index] == sign, index + 2 < input.count, let high = Hexadecimal.value(of: input[index + 1]),
                let low = Hexadecimal.value(of: input[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(input[index])
                index += 1
            }
        }
        return result
    }
}
