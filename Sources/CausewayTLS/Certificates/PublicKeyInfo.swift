/// A SubjectPublicKeyInfo: the public key in a certificate (RFC 5280 §4.1.2.7).
package struct PublicKeyInfo: Sendable {
    package enum Algorithm: Sendable { case rsa, ellipticCurve, other }

    package let algorithm: Algorithm
    /// The key: RSAPublicKey in DER (RFC 8017 §A.1.1), an elliptic curve point (RFC 5480 §2.2), or another algorithm's format.
    package let bytes: [UInt8]
    package let bitCount: Int

    /// Object identifier 1.2.840.113549.1.1.1 (rsaEncryption).
    private static let rsa: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    /// Object identifier 1.2.840.10045.2.1 (ecPublicKey).
    private static let ellipticCurve: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    /// The size of an uncompressed P-521 point in bytes. A coordinate has 521 bits, which is not a whole number of bytes.
    private static let pointOf521ByteCount = 133

    /// Parses a SubjectPublicKeyInfo.
    ///
    /// - Parameter der: The value in DER. The result is `nil` if it is malformed or has trailing bytes.
    package init?(_ der: [UInt8]) {
        do throws(DERError) {
            try self.init(parsing: der)
        } catch {
            return nil
        }
    }

    private init(parsing der: [UInt8]) throws(DERError) {
        var outer = DERReader(der[...])
        var reader = DERReader(try outer.next(DERTag.sequence))
        try outer.end()
        var kind = DERReader(try reader.next(DERTag.sequence))
        let identifier = try kind.next(DERTag.identifier)
        let bits = try reader.next(DERTag.bits)
        try reader.end()
        guard bits.first == 0 else { throw DERError("key length is not a multiple of 8 bits") }
        bytes = Array(bits.dropFirst())
        if identifier.elementsEqual(Self.rsa) {
            algorithm = .rsa
            var key = DERReader(bytes[...])
            var numbers = DERReader(try key.next(DERTag.sequence))
            let modulus = try numbers.next(DERTag.integer).drop { $0 == 0 }
            bitCount = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        } else if identifier.elementsEqual(Self.ellipticCurve) {
            algorithm = .ellipticCurve
            bitCount = bytes.count == Self.pointOf521ByteCount ? 521 : max(0, bytes.count - 1) / 2 * 8
        } else {
            algorithm = .other
            bitCount = bytes.count * 8
        }
    }

    /// Encodes a SubjectPublicKeyInfo (RFC 3279 §2.3.1).
    ///
    /// - Parameter key: The RSAPublicKey in DER.
    package static func encode(rsa key: [UInt8]) -> [UInt8] {
        let algorithm = DERWriter.sequence(DERWriter.value(DERTag.identifier, rsa), DERWriter.value(0x05, []))
        return DERWriter.sequence(algorithm, DERWriter.bits(key))
    }

    /// Encodes a SubjectPublicKeyInfo (RFC 5480 §2).
    ///
    /// - Parameters:
    ///   - point: The point, in any ANSI X9.63 format.
    ///   - curve: The curve.
    package static func encode(point: [UInt8], curve: NamedCurve) -> [UInt8] {
        DERWriter.sequence(algorithm(curve), DERWriter.bits(point))
    }

    /// Encodes a curve's AlgorithmIdentifier (RFC 5480 §2.1.1).
    static func algorithm(_ curve: NamedCurve) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.value(DERTag.identifier, ellipticCurve), DERWriter.value(DERTag.identifier, curve.identifier))
    }

    /// Returns an RSA key's canonical encoding, for comparisons: certificates may omit the NULL parameters, which this
    /// encoding always has. Returns other keys and malformed bytes unchanged.
    package static func canonical(_ der: [UInt8]) -> [UInt8] {
        guard let info = PublicKeyInfo(der), info.algorithm == .rsa else { return der }
        return encode(rsa: info.bytes)
    }

    /// Converts the private key that belongs to this public key to the raw format in Apple's API. An RSA key is
    /// returned unchanged. An elliptic curve key becomes the point, followed by the private scalar (ANSI X9.63).
    ///
    /// - Parameter der: The private key in its algorithm's format (RFC 8017 §A.1.2, RFC 5915 §3).
    /// - Returns: `nil` for another algorithm, or if an elliptic curve key is malformed.
    package func bare(privateKey der: [UInt8]) -> [UInt8]? {
        switch algorithm {
        case .rsa: return der
        case .other: return nil
        case .ellipticCurve:
            var outer = DERReader(der[...])
            guard let content = try? outer.next(DERTag.sequence) else { return nil }
            var fields = DERReader(content)
            guard (try? fields.smallNumber()) == 1, let number = try? fields.next(DERTag.bytes) else { return nil }
            let length = (bytes.count - 1) / 2
            guard number.count <= length else { return nil }
            return bytes + [UInt8](repeating: 0, count: length - number.count) + number
        }
    }
}
