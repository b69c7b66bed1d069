@_spi(_Unicode) internal import Swift

extension BonjourNames {
    /// Converts the name to Unicode normal form C, because other hosts compare the bytes of names (RFC 6762 §16).
    /// Truncates it at a character boundary to 63 bytes.
    static func normal(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        var result = String(scalars)
        while result.utf8.count > 63 { result.removeLast() }
        return result
    }

    /// Returns whether the text is a valid instance name: not empty and without control characters (RFC 6763 §4.1.1).
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
