/// A certificate's fields, parsed strictly (RFC 5280 §4.1). Their values are not validated.
struct CertificateFields: Sendable {
    /// The version: 1, 2 or 3 (RFC 5280 §4.1.2.1).
    let version: Int
    let serialNumber: ArraySlice<UInt8>
    /// Whether both signature algorithm fields are equal (RFC 5280 §4.1.1.2, §4.1.2.3).
    let isAlgorithmConsistent: Bool
    let issuer: DistinguishedName
    let subject: DistinguishedName
    /// The validity period in seconds since 1970; both ends are inclusive.
    let notBefore: Int64
    let notAfter: Int64
    /// The public key (SubjectPublicKeyInfo) in DER.
    let publicKey: ArraySlice<UInt8>
    let extensions: CertificateExtensions

    init(_ der: [UInt8]) throws(DERError) {
        var outer = DERReader(der[...])
        var reader = DERReader(try outer.next(DERTag.sequence))
        try outer.end()
        var body = DERReader(try reader.next(DERTag.sequence))
        let algorithm = try reader.next()
        _ = try reader.next(DERTag.bits)
        try reader.end()

        version = try Self.version(&body)
        serialNumber = try body.next(DERTag.integer)
        isAlgorithmConsistent = try body.next().encoding == algorithm.encoding
        issuer = try DistinguishedName(try body.next(DERTag.sequence))
        var validity = DERReader(try body.next(DERTag.sequence))
        notBefore = try Self.time(try validity.next())
        notAfter = try Self.time(try validity.next())
        try validity.end()
        subject = try DistinguishedName(try body.next(DERTag.sequence))
        let key = try body.next()
        guard key.tag == DERTag.sequence else { throw DERError("missing public key") }
        publicKey = key.encoding
        extensions = try Self.extensions(&body, version)
    }

    /// Parses only the subject, to find a certificate by name.
    static func subject(of der: [UInt8]) throws(DERError) -> DistinguishedName {
        var outer = DERReader(der[...])
        var reader = DERReader(try outer.next(DERTag.sequence))
        var body = DERReader(try reader.next(DERTag.sequence))
        _ = try body.optional(0xa0)
        // Skip the certificate's serial number, algorithm, issuer and validity.
        for _ in 0..<4 { _ = try body.next() }
        return try DistinguishedName(try body.next(DERTag.sequence))
    }

    /// Whether the issuer equals the subject.
    var isSelfIssued: Bool { issuer == subject }

    private static func version(_ body: inout DERReader) throws(DERError) -> Int {
        guard let tagged = try body.optional(0xa0) else { return 1 }
        var reader = DERReader(tagged)
        let number = try reader.smallNumber()
        try reader.end()
        guard number == 1 || number == 2 else { throw DERError("unknown certificate version") }
        return number + 1
    }

    private static func extensions(_ body: inout DERReader, _ version: Int) throws(DERError) -> CertificateExtensions {
        // Skip the obsolete unique identifiers for issuer and subject (RFC 5280 §4.1.2.8).
        for tag: UInt8 in [0x81, 0x82] {
            guard try body.optional(tag) != nil else { continue }
            guard version > 1 else { throw DERError("unique identifiers are not allowed in version 1") }
        }
        guard let tagged = try body.optional(0xa3) else {
            try body.end()
            return CertificateExtensions()
        }
        guard version == 3 else { throw DERError("extensions are allowed only in version 3") }
        try body.end()
        var reader = DERReader(tagged)
        let list = try reader.next(DERTag.sequence)
        try reader.end()
        return try CertificateExtensions(list)
    }

    /// Parses a UTCTime or GeneralizedTime (RFC 5280 §4.1.2.5.1, §4.1.2.5.2) into seconds since 1970.
    static func time(_ value: DERReader.Value) throws(DERError) -> Int64 {
        let yearDigits = value.tag == DERTag.utcTime ? 2 : 4
        guard value.tag == DERTag.utcTime || value.tag == DERTag.generalizedTime,
            value.content.count == yearDigits + 11, value.content.last == UInt8(ascii: "Z")
        else { throw DERError("malformed time: expected YYMMDDHHMMSSZ or YYYYMMDDHHMMSSZ") }
        var digits: [Int] = []
        for byte in value.content.dropLast() {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
                throw DERError("malformed time: expected digits")
            }
            digits.append(Int(byte) - 48)
        }
        var year = digits.prefix(yearDigits).reduce(0) { $0 * 10 + $1 }
        if yearDigits == 2 { year += year < 50 ? 2_000 : 1_900 }
        let rest: [Int] = stride(from: yearDigits, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
        let (month, day, hour, minute, second) = (rest[0], rest[1], rest[2], rest[3], rest[4])
        guard (1...12).contains(month), day >= 1, day <= GregorianCalendar.dayCount(year, month), hour < 24,
            minute < 60, second < 60
        else {
            throw DERError("invalid date or time")
        }
        let hours = GregorianCalendar.dayNumber(year, month, day) * 24 + hour
        return Int64(hours * 3_600 + minute * 60 + second)
    }
}
