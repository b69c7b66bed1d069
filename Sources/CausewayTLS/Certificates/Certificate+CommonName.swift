extension Certificate {
    /// The subject's most specific common name; `nil` if there is none.
    package var commonName: String? {
        var outer = DERReader(subjectDER[...])
        guard let names = try? outer.next(DERTag.sequence) else { return nil }
        var found: String?
        try? DERReader.all(names) { reader throws(DERError) in
            try DERReader.all(try reader.next(DERTag.set)) { reader throws(DERError) in
                var attribute = DERReader(try reader.next(DERTag.sequence))
                guard try attribute.next(DERTag.identifier).elementsEqual(Self.commonNameIdentifier) else { return }
                found = Self.text(try attribute.next())
            }
        }
        return found
    }

    /// Object identifier 2.5.4.3 (commonName).
    private static let commonNameIdentifier: [UInt8] = [0x55, 0x04, 0x03]
    private static let twoByteText: UInt8 = 0x1e

    private static func text(_ value: DERReader.Value) -> String {
        guard value.tag == twoByteText else { return String(decoding: value.content, as: UTF8.self) }
        let bytes = Array(value.content)
        var units: [UInt16] = []
        for start in stride(from: 0, to: bytes.count - 1, by: 2) {
            let high = UInt16(bytes[start]) << 8
            units.append(high | UInt16(bytes[start + 1]))
        }
        return String(decoding: units, as: UTF16.self)
    }
}
