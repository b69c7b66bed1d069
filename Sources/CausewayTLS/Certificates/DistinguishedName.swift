/// A subject or issuer name, normalized for comparison: lower case, without extra spaces (RFC 5280 §7.1).
struct DistinguishedName: Hashable, Sendable {
    /// The normalized relative distinguished names, most general first.
    let parts: [[UInt8]]
    /// Email addresses in the name, to which name constraints also apply (RFC 5280 §4.2.1.10).
    let mailAddresses: [String]

    var isEmpty: Bool { parts.isEmpty }

    /// Parses a name.
    ///
    /// - Parameter content: The content of the outer SEQUENCE.
    init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var parts: [[UInt8]] = []
        var mailAddresses: [String] = []
        try DERReader.all(content) { reader throws(DERError) in
            var attributes: [[UInt8]] = []
            try DERReader.all(try reader.next(DERTag.set)) { reader throws(DERError) in
                var attribute = DERReader(try reader.next(DERTag.sequence))
                let kind = try attribute.next(DERTag.identifier)
                let value = try attribute.next()
                try attribute.end()
                attributes.append(Array(kind) + [0] + Self.canonical(value))
                if kind.elementsEqual(Self.mailAddress) {
                    mailAddresses.append(String(decoding: value.content, as: UTF8.self))
                }
            }
            guard !attributes.isEmpty else { throw DERError("empty relative distinguished name") }
            // DER orders the attributes by their original encoding. So sort the normalized forms again.
            attributes.sort { $0.lexicographicallyPrecedes($1) }
            parts.append(attributes.flatMap { $0 + [0xff] })
        }
        self.parts = parts
        self.mailAddresses = mailAddresses
    }

    /// Object identifier 1.2.840.113549.1.9.1 (emailAddress).
    private static let mailAddress: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01]

    private static let utf8: UInt8 = 0x0c
    private static let bmp: UInt8 = 0x1e
    /// String types with ASCII-compatible bytes: UTF8String, PrintableString, IA5String, VisibleString.
    private static let plainTexts: Set<UInt8> = [utf8, 0x13, 0x16, 0x1a]

    private static func canonical(_ value: DERReader.Value) -> [UInt8] {
        if plainTexts.contains(value.tag) { return [utf8] + folded(value.content) }
        guard value.tag == bmp, value.content.count % 2 == 0 else { return Array(value.encoding) }
        let units = stride(from: value.content.startIndex, to: value.content.endIndex, by: 2).map { index -> UInt16 in
            let (high, low) = (UInt16(value.content[index]), UInt16(value.content[index + 1]))
            return high << 8 | low
        }
        return [utf8] + folded(Array(String(decoding: units, as: UTF16.self).utf8)[...])
    }

    /// Converts to lower case, trims spaces and collapses inner spaces.
    private static func folded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isBetweenWords = false
        for byte in text {
            if byte == UInt8(ascii: " ") {
                isBetweenWords = !result.isEmpty
                continue
            }
            if isBetweenWords { result.append(UInt8(ascii: " ")) }
            isBetweenWords = false
            result.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
        return result
    }
}
