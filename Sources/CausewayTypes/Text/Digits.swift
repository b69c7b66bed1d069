extension FixedWidthInteger {
    /// Parses a number of ASCII digits. The standard library's initializers also accept a sign, which the text formats
    /// of protocols do not permit.
    ///
    /// - Parameter radix: The base, at most 16.
    /// - Returns: `nil` if the text is empty or has another character, or if the type cannot represent the number.
    @inlinable package init?(digits: some Sequence<UInt8>, radix: UInt8 = 10) {
        var number: Self = 0
        var isEmpty = true
        for byte in digits {
            let (decimal, letter) = (byte &- 0x30, (byte | 0x20) &- 0x61)
            let digit = decimal < 10 ? decimal : letter < 6 ? letter + 10 : .max
            guard digit < radix else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: Self(truncatingIfNeeded: radix))
            let (sum, overflowsToo) = product.addingReportingOverflow(Self(truncatingIfNeeded: digit))
            guard !overflows, !overflowsToo else { return nil }
            number = sum
            isEmpty = false
        }
        guard !isEmpty else { return nil }
        self = number
    }

    /// Parses a number of ASCII digits in text.
    @inlinable package init?(digits text: some StringProtocol, radix: UInt8 = 10) {
        self.init(digits: text.utf8, radix: radix)
    }
}
