/// The certificate extensions used in chain validation (RFC 5280 §4.2).
struct CertificateExtensions: Sendable {
    struct BasicConstraints: Hashable, Sendable {
        var isAuthority = false
        var pathLength: Int?
        var isCritical = false
    }

    struct AlternativeNames: Sendable {
        var names: [GeneralName]
        var isCritical: Bool
    }

    /// The identifiers of the certificate's own key and of its issuer's key.
    struct KeyIdentifiers: Sendable {
        fileprivate(set) var subject: [UInt8]?
        fileprivate(set) var authority: [UInt8]?
        /// Whether the extension with the subject's or the issuer's key identifier is critical.
        fileprivate(set) var isCritical = false
    }

    /// The policy extensions in encoded form. Few chains need them, so only ``PolicyCheck`` decodes them.
    struct Policy: Sendable {
        struct Constraints: Sendable {
            var value: ArraySlice<UInt8>
            var isCritical: Bool
        }

        fileprivate(set) var policies: ArraySlice<UInt8>?
        fileprivate(set) var mappings: ArraySlice<UInt8>?
        fileprivate(set) var constraints: Constraints?
        fileprivate(set) var inhibitAny: ArraySlice<UInt8>?
    }

    struct KeyUsage: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let digitalSignature = KeyUsage(rawValue: 0x80)
        static let certificateSigning = KeyUsage(rawValue: 0x04)
    }

    /// Extended key usage object identifiers, DER-encoded without header.
    enum Purpose {
        static let any: [UInt8] = [0x55, 0x1d, 0x25, 0x00]
        static let server: [UInt8] = [0x2b, 6, 1, 5, 5, 7, 3, 1]
        static let client: [UInt8] = [0x2b, 6, 1, 5, 5, 7, 3, 2]
    }

    private(set) var basicConstraints: BasicConstraints?
    private(set) var keyUsage: KeyUsage?
    private(set) var purposes: [[UInt8]]?
    private(set) var alternativeNames: AlternativeNames?
    private(set) var nameConstraints: NameConstraints?
    private(set) var keyIdentifiers = KeyIdentifiers()
    /// The Authority Information Access entries (RFC 5280 §4.2.2.1).
    private(set) var informationAccess: [AccessDescription] = []
    private(set) var policy = Policy()
    /// The first unknown critical extension, as a dotted object identifier.
    private(set) var unknownCritical: String?

    init() {}

    /// Parses the extensions.
    ///
    /// - Parameter content: The content of the outer SEQUENCE.
    init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var seen: Set<ArraySlice<UInt8>> = []
        try DERReader.all(content) { reader throws(DERError) in
            var entry = DERReader(try reader.next(DERTag.sequence))
            let identifier = try entry.next(DERTag.identifier)
            let isCritical = entry.nextTag == DERTag.boolean ? try entry.boolean() : false
            let value = try entry.next(DERTag.bytes)
            try entry.end()
            guard seen.insert(identifier).inserted else { throw DERError("duplicate extension") }
            try self.read(identifier, value, isCritical)
        }
        guard !seen.isEmpty else { throw DERError("empty list of extensions") }
    }

    private mutating func read(
        _ identifier: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ isCritical: Bool
    ) throws(DERError) {
        // Identifiers of the extensions in RFC 5280 begin with 2.5.29.
        let number = identifier.count == 3 && identifier.starts(with: [0x55, 0x1d]) ? identifier.last : nil
        switch number {
        case 14: try keyIdentifiers.readSubject(value, isCritical)
        case 15: keyUsage = try Self.keyUsage(value)
        case 17:
            alternativeNames = AlternativeNames(
                names: try GeneralName.list(Self.single(value)), isCritical: isCritical)
        case 19: basicConstraints = try Self.basicConstraints(value, isCritical)
        case 30: nameConstraints = try NameConstraints(Self.single(value))
        // A critical extension with CRL distribution points is accepted, although this library does not fetch CRLs.
        case 31: _ = try Self.list(value)
        case 32: policy.policies = try Self.list(value)
        case 33: policy.mappings = try Self.list(value)
        case 35: try keyIdentifiers.readAuthority(Self.single(value), isCritical)
        case 36: policy.constraints = Policy.Constraints(value: value, isCritical: isCritical)
        case 37: purposes = try Self.purposes(value)
        case 54: policy.inhibitAny = value
        default:
            // A critical TLS feature extension (RFC 7633) is accepted, because the check of the stapled OCSP response
            // enforces it.
            let isKnown = identifier.elementsEqual([0x2b, 6, 1, 5, 5, 7, 1, 24])
            if identifier.elementsEqual(AccessDescription.ofIssuer) {
                informationAccess = try AccessDescription.list(value)
            }
            if isCritical, !isKnown, unknownCritical == nil { unknownCritical = Self.dotted(identifier) }
        }
    }

    /// Returns the content of a single SEQUENCE.
    private static func single(_ value: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        var reader = DERReader(value)
        let content = try reader.next(DERTag.sequence)
        try reader.end()
        return content
    }

    /// Returns an extension's value unchanged if it is a list: a SEQUENCE that contains at least one SEQUENCE and
    /// nothing else.
    private static func list(_ value: ArraySlice<UInt8>) throws(DERError) -> ArraySlice<UInt8> {
        let content = try single(value)
        guard !content.isEmpty else { throw DERError("empty list in an extension") }
        try DERReader.all(content) { reader throws(DERError) in _ = try reader.next(DERTag.sequence) }
        return value
    }

    /// Parses the basic constraints (RFC 5280 §4.2.1.9).
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

    /// Parses the key usage (RFC 5280 §4.2.1.3), without the ninth bit, which only restricts key agreement.
    private static func keyUsage(_ value: ArraySlice<UInt8>) throws(DERError) -> KeyUsage {
        var reader = DERReader(value)
        let bits = try reader.next(DERTag.bits)
        try reader.end()
        guard (1...3).contains(bits.count), let unused = bits.first, unused < 8 else {
            throw DERError("malformed key usage")
        }
        return KeyUsage(rawValue: bits.count > 1 ? bits[bits.startIndex + 1] : 0)
    }

    /// Parses the extended key usage (RFC 5280 §4.2.1.12).
    private static func purposes(_ value: ArraySlice<UInt8>) throws(DERError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        try DERReader.all(try single(value)) { reader throws(DERError) in
            result.append(Array(try reader.next(DERTag.identifier)))
        }
        guard !result.isEmpty else { throw DERError("empty extended key usage") }
        return result
    }

    /// Formats an object identifier in dotted form.
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

extension CertificateExtensions.KeyIdentifiers {
    /// Parses the subject key identifier (RFC 5280 §4.2.1.2).
    fileprivate mutating func readSubject(_ value: ArraySlice<UInt8>, _ isCritical: Bool) throws(DERError) {
        var reader = DERReader(value)
        subject = Array(try reader.next(DERTag.bytes))
        try reader.end()
        if isCritical { self.isCritical = true }
    }

    /// Parses the content of the authority key identifier's SEQUENCE (RFC 5280 §4.2.1.1).
    fileprivate mutating func readAuthority(_ content: ArraySlice<UInt8>, _ isCritical: Bool) throws(DERError) {
        var reader = DERReader(content)
        authority = try reader.optional(0x80).map { Array($0) }
        if isCritical { self.isCritical = true }
    }
}
