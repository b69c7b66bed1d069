extension FixedWidthInteger {
    /// Parses a decimal number of ASCII digits. The standard initializers also accept a sign, which the text formats of protocols do not.
    init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy(URIBytes.isDigit) else { return nil }
        self.init(text)
    }
}
