import CausewayTLS
import CausewayTestKit

/// Public keys that take long to use or to decode, as SubjectPublicKeyInfo in DER. Their private keys are unknown.
enum HostileKeys {
    private static func number(bits: Int, _ seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var bytes = random.bytes((bits + 7) / 8)
        let unused = bytes.count * 8 - bits
        bytes[0] = bytes[0] & (0xff >> UInt8(unused)) | (0x80 >> UInt8(unused))
        bytes[bytes.count - 1] |= 1
        return bytes
    }

    /// - Parameter exponent: The exponent's bytes, the most significant byte first.
    static func rsa(modulusBits: Int, exponent: [UInt8], seed: UInt64 = 1) -> [UInt8] {
        rsa(modulus: number(bits: modulusBits, seed), exponent: exponent)
    }

    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        let key = DERWriter.sequence(DERWriter.integer(modulus), DERWriter.integer(exponent))
        return DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 113_549, 1, 1, 1), DERWriter.value(5, [])),
            DERWriter.bits(key))
    }

    /// Returns a key of 3,072 bits with an exponent nearly as long: a signature check takes a hundred times as long as with the usual
    /// exponent.
    static func longExponent(_ seed: UInt64) -> [UInt8] {
        rsa(modulusBits: 3_072, exponent: number(bits: 3_070, seed + 1_000), seed: seed)
    }

    /// Returns a key whose elliptic curve has explicit parameters. For its prime, a square root takes long to compute.
    static func writtenOutCurve(compressed isCompressed: Bool = true) -> [UInt8] {
        let prime = [UInt8](repeating: 0x7f, count: 66)
        let point = [isCompressed ? 2 : 4] + [UInt8](repeating: 1, count: isCompressed ? 66 : 132)
        let parameters = DERWriter.sequence(
            DERWriter.integer([1]),
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 1, 1), DERWriter.integer(prime)),
            DERWriter.sequence(DERWriter.bytes([1]), DERWriter.bytes([2])), DERWriter.bytes(point),
            DERWriter.integer(prime))
        return DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 2, 1), parameters), DERWriter.bits(point))
    }

    /// A valid key on P-256 with explicit parameters (SEC 2 §2.4.2).
    static let writtenOutP256: [UInt8] = {
        let prime = digits("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let a = digits("ffffffff00000001000000000000000000000000fffffffffffffffffffffffc")
        let b = digits("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")
        let generator = digits(
            "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
        let order = digits("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let parameters = DERWriter.sequence(
            DERWriter.integer([1]),
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 1, 1), DERWriter.integer(prime)),
            DERWriter.sequence(DERWriter.bytes(a), DERWriter.bytes(b)), DERWriter.bytes(generator),
            DERWriter.integer(order), DERWriter.integer([1]))
        return DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 2, 1), parameters), DERWriter.bits(generator))
    }()

    private static func digits(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    static func namedCurve(_ identifier: [UInt8], byteCount: Int) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 2, 1), identifier),
            DERWriter.bits([4] + [UInt8](repeating: 1, count: byteCount)))
    }
}

extension CertificateTemplate {
    static func authority(_ name: String) -> CertificateTemplate {
        var template = CertificateTemplate(subject: name, notBefore: Authority.now - 9, notAfter: Authority.now + 9)
        template.isAuthority = true
        return template
    }
}
