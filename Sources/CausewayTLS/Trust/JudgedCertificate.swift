internal import CCausewayOpenSSL

/// A certificate and what stands in it, as the rules ask for it.
struct JudgedCertificate: Sendable {
    let certificate: Certificate
    let der: [UInt8]
    let fields: CertificateFields

    init(_ certificate: Certificate) throws(DERError) {
        self.certificate = certificate
        der = certificate.der
        fields = try CertificateFields(der)
    }

    /// The same holder with the same key, whoever signed it and when.
    func isSameHolder(as other: JudgedCertificate) -> Bool {
        fields.subject == other.fields.subject && fields.publicKey == other.fields.publicKey
    }

    // MARK: The library's part

    /// 112 bits: RSA with 2,048 bits, no SHA-1 and no MD5 in any signature.
    private static let leastSecurity: CInt = 112
    private static let leastRSABits: CInt = 2_048
    /// Larger keys only cost time.
    private static let mostKeyBits: CInt = 16_384

    /// What is wrong with the key; `nil` if nothing is.
    var keyProblem: String? {
        guard let key = cw_X509_get0_pubkey(certificate.object.pointer),
            let name = cw_EVP_PKEY_get0_type_name(key).map({ String(cString: $0) })
        else {
            cw_ERR_clear_error()
            return "a key of an unknown kind"
        }
        guard ["RSA", "RSA-PSS", "EC", "ED25519", "ED448"].contains(name), !(name == "EC" && hasExplicitCurve) else {
            return "a key of the kind \(name) that is not used here"
        }
        let bits = cw_EVP_PKEY_get_bits(key)
        // The library rounds up what a little less than 2,048 bits are worth.
        guard cw_EVP_PKEY_get_security_bits(key) >= Self.leastSecurity, bits <= Self.mostKeyBits,
            bits >= Self.leastRSABits || !name.hasPrefix("RSA")
        else { return certificate.keyDescription }
        return nil
    }

    /// Whether the curve is written out instead of named (RFC 5480 §2.1.1), which lets its author choose a weak one.
    private var hasExplicitCurve: Bool {
        var outer = DERReader(fields.publicKey)
        guard let content = try? outer.next(DERTag.sequence) else { return true }
        var reader = DERReader(content)
        guard let algorithm = try? reader.next(DERTag.sequence) else { return true }
        var parts = DERReader(algorithm)
        guard (try? parts.next(DERTag.identifier)) != nil else { return true }
        return parts.nextTag != DERTag.identifier
    }

    /// What is wrong with the algorithm of the signature; `nil` if nothing is.
    var signatureProblem: String? {
        var security: CInt = 0
        defer { cw_ERR_clear_error() }
        guard cw_X509_get_signature_info(certificate.object.pointer, nil, nil, &security, nil) == 1,
            security >= Self.leastSecurity
        else { return certificate.signatureAlgorithm }
        return nil
    }

    /// Whether `issuer` has the key that signed this.
    func isSigned(by issuer: JudgedCertificate) -> Bool {
        defer { cw_ERR_clear_error() }
        guard let key = cw_X509_get0_pubkey(issuer.certificate.object.pointer) else { return false }
        return cw_X509_verify(certificate.object.pointer, key) == 1
    }
}
