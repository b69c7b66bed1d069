/// The extensions of a certificate that the rules look at (RFC 5280 §4.2).
struct CertificateExtensions: Sendable {
    struct BasicConstraints: Hashable, Sendable {
        var isAuthority = false
        var pathLength: Int?
        var isCritical = false
    }

    struct KeyUsage: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let digitalSignature = KeyUsage(rawValue: 0x80)
        static let certificateSigning = KeyUsage(rawValue: 0x04)
    }

    /// Object identifiers of purposes, as they are encoded.
    enum Purpose {
        static let any: [UInt8] = [0x55, 0x1d, 0x25, 0x00]
        static let server: [UInt8] = [0x2b, 6, 1, 5, 5, 7, 3, 1]
        static let client: [UInt8] = [0x2b, 6, 1, 5, 5, 7, 3, 2]
    }

    private(set) var basicConstraints: BasicConstraints?
    private(set) var keyUsage: KeyUsage?
    private(set) var purposes: [[UInt8]]?
    private(set) var alternativeNames: [GeneralName]?
    private(set) var isAlternativeNameCritical = false
    private(set) var nameConstraints: NameConstraints?
    private(set) var hasAuthorityKeyIdentifier = false
    /// Of the key that signed this certificate.
    private(set) var authorityKeyIdentifier: [UInt8]?
    private(set) var subjectKeyIdentifier: [UInt8]?
    private(set) var isKeyIdentifierCritical = false
    /// Where to learn more about the issuer (RFC 5280 §4.2.2.1).
    private(set) var informationAccess: [AccessDescription] = []
    /// What ``PolicyCheck`` reads, undecoded: it matters in few chains.
    private(set) var policies: ArraySlice<UInt8>?
    private(set) var policyMappings: ArraySlice<UInt8>?
    private(set) var policyConstraints: ArraySlice<UInt8>?
    private(set) var isPolicyConstraintsCritical = false
    private(set) var inhibitAnyPolicy: ArraySlice<UInt8>?
    /// The first one that is critical and not known here, in numbers.
    private(set) var unknownCritical: String?

    init() {}

    /// - Parameter content: What is inside the SEQUENCE of all extensions.
    init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var seen: Set<ArraySlice<UInt8>> = []
        try DERReader.all(content) { reader throws(DERError) in
            var entry = DERReader(try reader.next(DERTag.sequence))
            let identifier = try entry.next(DERTag.identifier)
            let isCritical = entry.nextTag == DERTag.boolean ? try entry.boolean() : false
            let value = try entry.next(DERTag.bytes)
            try entry.end()
            guard seen.insert(identifier).inserted else { throw DERError("an extension is there twice") }
            try self.read(identifier, value, isCritical)
        }
        guard !seen.isEmpty else { throw DERError("the list of extensions is empty") }
    }

    private mutating func read(
        _ identifier: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ isCritical: Bool
    ) throws(DERError) {
        // What stands in RFC 5280 lies below 2.5.29.
        let number = identifier.count == 3 && identifier.starts(with: [0x55, 0x1d]) ? identifier.last : nil
        switch number {
        case 14: try readSubjectKey(value, isCritical)
        case 15: keyUsage = try Self.keyUsage(value)
        case 17:
            alternativeNames = try GeneralName.list(Self.single(value))
            isAlternativeNameCritical = isCritical
        case 19: basicConstraints = try Self.basicConstraints(value, isCritical)
        case 30: nameConstraints = try NameConstraints(Self.single(value))
        // Where revocation lists are: known, and nothing here asks for it.
        case 31: try Self.checkList(value)
        case 32:
            try Self.checkList(value)
            policies = value
        case 33:
            try Self.checkList(value)
            policyMappings = value
        case 35: try readAuthorityKey(value, isCritical)
        case 36:
            policyConstraints = value
            isPolicyConstraintsCritical = isCritical
        case 37: purposes = try Self.purposes(value)
        case 54: inhibitAnyPolicy = value
        default:
            // RFC 7633: the promise of a stapled statement is looked at after the handshake.
            let isKnown = identifier.elementsEqual([0x2b, 6, 1, 5, 5, 7, 1, 24])
            if identifier.elementsEqual(AccessDescription.ofIssuer) {
                informationAccess = try AccessDescription.list(value)
            }
            if isCritical, !isKnown, unknownCritical == nil { unknownCritical = Self.dotted(identifier) }
        }
    }

    /// The content of the only SEQUENCE.
    private static func single(_ value: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        var reader = DERReader(value)
        let content = try reader.next(DERTag.sequence)
        try reader.end()
        return content
    }

    /// Checks the outer structure of a list: a SEQUENCE of at least one SEQUENCE.
    private static func checkList(_ value: ArraySlice<UInt8>) throws(DERError) {
        let content = try single(value)
        guard !content.isEmpty else { throw DERError("a list in an extension is empty") }
        try DERReader.all(content) { reader throws(DERError) in _ = try reader.next(DERTag.sequence) }
    }

    /// RFC 5280 §4.2.1.9.
    private static func basicConstraints(
        _ value: ArraySlice<UInt8>, _ isCritical: Bool
    ) throws(DERError) -> BasicConstraints {
        var reader = DERReader(try single(value))
        var result = BasicConstraints(isCritical: isCritical)
        if reader.nextTag == DERTag.boolean {
            result.isAuthority = try reader.boolean()
        }
        if !reader.isAtEnd { result.pathLength = try reader.smallNumber() }
        try reader.end()
        return result
    }

    /// RFC 5280 §4.2.1.3; the ninth bit, which only narrows key agreement, is left out.
    private static func keyUsage(_ value: ArraySlice<UInt8>) throws(DERError) -> KeyUsage {
        var reader = DERReader(value)
        let bits = try reader.next(DERTag.bits)
        try reader.end()
        guard (1...3).contains(bits.count), let unused = bits.first, unused < 8 else {
            throw DERError("the key usage cannot be read")
        }
        return KeyUsage(rawValue: bits.count > 1 ? bits[bits.startIndex + 1] : 0)
    }

    /// RFC 5280 §4.2.1.12.
    private static func purposes(_ value: ArraySlice<UInt8>) throws(DERError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        try DERReader.all(try single(value)) { reader throws(DERError) in
            result.append(Array(try reader.next(DERTag.identifier)))
        }
        guard !result.isEmpty else { throw DERError("the list of purposes is empty") }
        return result
    }

    private mutating func readSubjectKey(_ value: ArraySlice<UInt8>, _ isCritical: Bool) throws(DERError) {
        var reader = DERReader(value)
        subjectKeyIdentifier = Array(try reader.next(DERTag.bytes))
        try reader.end()
        if isCritical { isKeyIdentifierCritical = true }
    }

    /// RFC 5280 §4.2.1.1.
    private mutating func readAuthorityKey(_ value: ArraySlice<UInt8>, _ isCritical: Bool) throws(DERError) {
        var reader = DERReader(try Self.single(value))
        hasAuthorityKeyIdentifier = true
        authorityKeyIdentifier = try reader.optional(0x80).map { Array($0) }
        if isCritical { isKeyIdentifierCritical = true }
    }

    /// An object identifier as people write it.
    static func dotted(_ identifier: ArraySlice<UInt8>) -> String {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        for byte in identifier {
            number = number << 7 | UInt64(byte & 0x7f)
            guard byte < 0x80 else { continue }
            numbers.append(number)
            number = 0
        }
        guard let first = numbers.first else { return "" }
        let root = min(first / 40, 2)
        return ([root, first - root * 40] + numbers.dropFirst()).map(String.init).joined(separator: ".")
    }
}
