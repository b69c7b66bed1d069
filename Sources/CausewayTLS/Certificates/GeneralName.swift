/// A GeneralName in a certificate or name constraint (RFC 5280 §4.2.1.6).
enum GeneralName: Hashable, Sendable {
    case mail(String)
    case dns(String)
    case uri(String)
    case directory(DistinguishedName)
    /// An address of 4 or 16 bytes. In a constraint, a mask with the same length follows the address.
    case address([UInt8])
    /// A name type that this library does not compare, by tag number.
    case other(UInt8)

    init(_ value: DERReader.Value) throws(DERError) {
        switch value.tag {
        case 0x81: self = .mail(String(decoding: value.content, as: UTF8.self))
        case 0x82: self = .dns(String(decoding: value.content, as: UTF8.self))
        case 0x86: self = .uri(String(decoding: value.content, as: UTF8.self))
        case 0x87: self = .address(Array(value.content))
        case 0xa4:
            var reader = DERReader(value.content)
            self = .directory(try DistinguishedName(try reader.next(DERTag.sequence)))
            try reader.end()
        case 0xa0, 0xa3, 0xa5, 0x88: self = .other(value.tag & 0x1f)
        default: throw DERError("unknown type of a general name")
        }
    }

    /// Parses a list. It must have at least one name.
    static func list(_ content: ArraySlice<UInt8>) throws(DERError) -> [GeneralName] {
        var names: [GeneralName] = []
        try DERReader.all(content) { reader throws(DERError) in
            names.append(try GeneralName(try reader.next()))
        }
        guard !names.isEmpty else { throw DERError("empty list of names") }
        return names
    }

    /// The name type's tag number.
    var kind: UInt8 {
        switch self {
        case .mail: 1
        case .dns: 2
        case .directory: 4
        case .uri: 6
        case .address: 7
        case .other(let number): number
        }
    }

    /// The name, converted to the argument type of ``ReferenceName/matches(_:)``.
    var alternativeName: SubjectAlternativeName {
        switch self {
        case .mail(let text): .email(text)
        case .dns(let text): .name(text)
        case .uri(let text): .uri(text)
        case .address(let bytes): .address(bytes)
        case .directory, .other: .other
        }
    }
}
