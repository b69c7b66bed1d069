/// An Information Access entry: a method and a location (RFC 5280 §4.2.2.1).
struct AccessDescription: Hashable, Sendable {
    /// The method's object identifier, DER-encoded without header.
    let method: [UInt8]
    let location: GeneralName

    /// Object identifier 1.3.6.1.5.5.7.1.1 (Authority Information Access).
    static let ofIssuer: [UInt8] = [0x2b, 6, 1, 5, 5, 7, 1, 1]

    /// Parses an Information Access extension. It must have at least one entry.
    static func list(_ value: ArraySlice<UInt8>) throws(DERError) -> [AccessDescription] {
        var outer = DERReader(value)
        let content = try outer.next(DERTag.sequence)
        try outer.end()
        var result: [AccessDescription] = []
        try DERReader.all(content) { reader throws(DERError) in
            var entry = DERReader(try reader.next(DERTag.sequence))
            let method = Array(try entry.next(DERTag.identifier))
            result.append(AccessDescription(method: method, location: try GeneralName(try entry.next())))
            try entry.end()
        }
        guard !result.isEmpty else { throw DERError("the Authority Information Access extension is empty") }
        return result
    }
}
