internal import CCausewayLibraries

extension PrivateKey {
    /// Parses an RSA key. Rejects a key whose numbers do not fit together: the key must make a test signature that
    /// verifies.
    ///
    /// - Parameter der: The RSAPrivateKey in DER, with two primes (RFC 8017 §A.1.2).
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`.
    package init(rsa der: [UInt8]) throws(TLSFailure) {
        let publicKey: [UInt8]
        do throws(DERError) {
            publicKey = try Self.publicPart(rsa: der)
        } catch {
            throw TLSFailure(.badCertificate, "malformed RSA key: \(error.reason)")
        }
        let verifier = try PublicKey(exactly: PublicKeyInfo.encode(rsa: publicKey))
        self.init(try Self.parse(der))
        guard self.der == der else { throw TLSFailure(.badCertificate, "RSA key not in its canonical form") }
        let scheme = SignatureScheme(.pkcs1)
        guard let proof = try? scheme.sign([1], self), scheme.verify([1], proof, verifier) else {
            cw_ERR_clear_error()
            throw TLSFailure(.badCertificate, "the numbers of the RSA key do not belong together")
        }
    }

    /// Parses an elliptic curve key.
    ///
    /// - Parameter bytes: The uncompressed point, followed by the private value (ANSI X9.63).
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`, for example if the value does not belong to the point.
    package init(x963 bytes: [UInt8]) throws(TLSFailure) {
        guard let curve = NamedCurve.allCases.first(where: { 1 + 3 * $0.byteCount == bytes.count }) else {
            throw TLSFailure(.badCertificate, "no curve has private keys of \(bytes.count) bytes")
        }
        let point = Array(bytes.dropLast(curve.byteCount))
        // Leave out the point. OpenSSL then computes it from the private value.
        let key = DERWriter.sequence(DERWriter.integer([1]), DERWriter.bytes(Array(bytes.suffix(curve.byteCount))))
        self.init(
            try Self.parse(
                DERWriter.sequence(DERWriter.integer([]), PublicKeyInfo.algorithm(curve), DERWriter.bytes(key))))
        guard isInRange, publicKeyInfo == PublicKeyInfo.encode(point: point, curve: curve) else {
            cw_ERR_clear_error()
            throw TLSFailure(.badCertificate, "the private value does not belong to the point")
        }
    }

    /// Whether the private value of an elliptic curve key is valid: at least 1, and less than the curve order.
    private var isInRange: Bool {
        guard let context = cw_EVP_PKEY_CTX_new_from_pkey(nil, object.pointer, nil) else { return false }
        defer { cw_EVP_PKEY_CTX_free(context) }
        return cw_EVP_PKEY_private_check(context) == 1
    }

    private static func parse(_ der: [UInt8]) throws(TLSFailure) -> SharedObject {
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return cw_d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
        guard let pointer else {
            throw TLSFailure(.badCertificate, "malformed private key: \(OpenSSLLibrary.takeReason())")
        }
        return SharedObject(owning: pointer, .key)
    }

    /// Returns the RSAPublicKey that belongs to an RSAPrivateKey. Rejects a key if one of its numbers is longer than
    /// the modulus. This rule limits the cost of the test signature in ``init(rsa:)``, which signs and verifies one
    /// byte.
    private static func publicPart(rsa der: [UInt8]) throws(DERError) -> [UInt8] {
        var outer = DERReader(der[...])
        var fields = DERReader(try outer.next(DERTag.sequence))
        try outer.end()
        guard try fields.smallNumber() == 0 else { throw DERError("more than two primes") }
        let modulus = try fields.next(DERTag.integer)
        let exponent = try fields.next(DERTag.integer)
        for _ in 0..<6 {
            let number = try fields.next(DERTag.integer)
            guard let first = number.first, first < 0x80, number.count <= modulus.count else {
                throw DERError("number out of range")
            }
        }
        try fields.end()
        return DERWriter.sequence(DERWriter.integer(Array(modulus)), DERWriter.integer(Array(exponent)))
    }
}
