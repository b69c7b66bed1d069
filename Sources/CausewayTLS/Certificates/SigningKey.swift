/// A public key for signature checks: kind, size, and verification cost.
///
/// The key is parsed without OpenSSL, so that keys of an unsuitable kind or size are rejected before OpenSSL computes
/// with them.
struct SigningKey: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case rsa(modulusBits: Int, exponent: UInt64)
        case curve(Curve)
    }

    /// Curves with at least 112 bits of security. Other curves and explicit curve parameters (RFC 5480 §2.1.1) are rejected.
    enum Curve: Hashable, Sendable, CaseIterable {
        case p224, p256, p384, p521, secp256k1, brainpool256, brainpool384, brainpool512, ed25519, ed448
    }

    let kind: Kind

    /// The reason to reject a key.
    struct Problem: Error, Hashable, Sendable {
        let reason: String
    }

    static let modulusBits = 2_048...8_192
    /// The exponents that OpenSSL accepts with any modulus size.
    static let exponents: ClosedRange<UInt64> = 3...UInt64.max

    /// Parses a public key.
    ///
    /// - Parameters:
    ///   - publicKeyInfo: The SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    ///   - modulusBits: The accepted sizes of an RSA key. The key of a certificate needs at least 2,048 bits.
    init(
        _ publicKeyInfo: ArraySlice<UInt8>, modulusBits: ClosedRange<Int> = Self.modulusBits
    ) throws(Problem) {
        do throws(DERError) {
            var outer = DERReader(publicKeyInfo)
            var reader = DERReader(try outer.next(DERTag.sequence))
            var algorithm = DERReader(try reader.next(DERTag.sequence))
            let identifier = try algorithm.next(DERTag.identifier)
            let bits = try reader.next(DERTag.bits)
            try reader.end()
            try outer.end()
            kind = try Self.kind(identifier, &algorithm, bits.dropFirst(), modulusBits)
        } catch {
            throw Problem(reason: error.reason)
        }
    }

    private static func kind(
        _ identifier: ArraySlice<UInt8>, _ parameters: inout DERReader, _ key: ArraySlice<UInt8>,
        _ modulusBits: ClosedRange<Int>
    ) throws(DERError) -> Kind {
        if identifier.elementsEqual(Identifier.rsa) || identifier.elementsEqual(Identifier.rsaPSS) {
            return try rsa(key, modulusBits)
        }
        if identifier.elementsEqual(Identifier.ellipticCurve) {
            guard parameters.nextTag == DERTag.identifier else {
                throw DERError("EC key with explicit curve parameters")
            }
            let name = try parameters.next(DERTag.identifier)
            guard let curve = Curve.allCases.first(where: { $0.identifier.elementsEqual(name) }) else {
                throw DERError("unsupported curve (\(CertificateExtensions.dotted(name)))")
            }
            return .curve(curve)
        }
        for curve in [Curve.ed25519, .ed448] where identifier.elementsEqual(curve.identifier) { return .curve(curve) }
        throw DERError("unsupported key algorithm (\(CertificateExtensions.dotted(identifier)))")
    }

    /// Parses an RSA key (RFC 8017 §A.1.1).
    ///
    /// Rejects an even modulus, because a product of odd primes is odd. Also rejects an even exponent, because it has
    /// no inverse.
    private static func rsa(
        _ key: ArraySlice<UInt8>, _ modulusBits: ClosedRange<Int>
    ) throws(DERError) -> Kind {
        var outer = DERReader(key)
        var numbers = DERReader(try outer.next(DERTag.sequence))
        try outer.end()
        let modulus = try positive(&numbers)
        let exponent = try positive(&numbers)
        try numbers.end()
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard modulusBits.contains(bits) else { throw DERError("RSA \(bits) bits") }
        guard modulus.last.map({ $0 & 1 == 1 }) ?? false else { throw DERError("RSA key with an even modulus") }
        let value = exponent.count <= 8 ? exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : 0
        guard exponents.contains(value), value & 1 == 1 else {
            throw DERError("RSA key with an even exponent or one outside 3 to 2^64-1")
        }
        return .rsa(modulusBits: bits, exponent: value)
    }

    /// Returns a positive integer's bytes without leading zeros.
    private static func positive(_ reader: inout DERReader) throws(DERError) -> ArraySlice<UInt8> {
        let content = try reader.next(DERTag.integer)
        guard let first = content.first, first < 0x80 else { throw DERError("RSA key with a negative number") }
        return content.drop { $0 == 0 }
    }

    /// The cost of one signature check in microseconds, on a processor from 2023 with OpenSSL 3.0.
    /// ``VerificationBudget`` uses this cost to limit the work for one peer's certificates.
    var verificationCost: Int {
        switch kind {
        // One part of the cost of an RSA signature check does not depend on the exponent. Each bit of the exponent adds
        // one squaring and part of a multiplication. The cost grows with the square of the modulus length. Measured
        // with 2,048 bits: 13 µs for exponent 3, 33 µs for 65,537, 81 µs for 2^32-1, and 157 µs for 2^64-1.
        case .rsa(let bits, let exponent):
            bits * bits * (16 + 5 * (64 - exponent.leadingZeroBitCount)) / (2 * 2_048 * 2_048)
        case .curve(let curve): curve.verificationCost
        }
    }

    private enum Identifier {
        /// Object identifiers 1.2.840.113549.1.1.1 (rsaEncryption) and 1.2.840.113549.1.1.10 (RSASSA-PSS).
        static let rsa: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
        static let rsaPSS: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a]
        /// Object identifier 1.2.840.10045.2.1 (ecPublicKey).
        static let ellipticCurve: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    }
}

extension SigningKey.Curve {
    /// The DER-encoded object identifier, without header (RFC 5480 §2.1.1.1, RFC 5639 §4.1, RFC 8410 §3).
    var identifier: [UInt8] {
        switch self {
        case .p224: [0x2b, 0x81, 0x04, 0x00, 0x21]
        case .p256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        case .p384: [0x2b, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x2b, 0x81, 0x04, 0x00, 0x23]
        case .secp256k1: [0x2b, 0x81, 0x04, 0x00, 0x0a]
        case .brainpool256: [0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07]
        case .brainpool384: [0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0b]
        case .brainpool512: [0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0d]
        case .ed25519: [0x2b, 0x65, 0x70]
        case .ed448: [0x2b, 0x65, 0x71]
        }
    }

    fileprivate var verificationCost: Int {
        switch self {
        case .p256: 65
        case .p224: 100
        case .ed25519: 120
        case .ed448: 240
        case .secp256k1: 350
        case .brainpool256: 420
        case .p521: 520
        case .p384: 700
        case .brainpool384: 780
        case .brainpool512: 960
        }
    }
}
