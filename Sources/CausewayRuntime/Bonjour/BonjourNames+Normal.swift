@_spi(_Unicode) internal import Swift

extension BonjourNames {
    /// The name in normal form C, for others compare bytes (RFC 6762 §16), and shortened to what a label holds, at the end of a
    /// character.
    static func normal(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        var result = String(scalars)
        while result.utf8.count > 63 { result.removeLast() }
        return result
    }

    /// Whether a name can be an instance's: some text, without control characters (RFC 6763 §4.1.1).
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
