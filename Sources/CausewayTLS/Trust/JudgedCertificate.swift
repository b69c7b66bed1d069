internal import CCausewayOpenSSL

/// A certificate and what stands in it, as the rules ask for it.
struct JudgedCertificate: Sendable {
    let certificate: Certificate
    let der: [UInt8]
    let fields: CertificateFields
    /// `nil` when the key may not be used: see ``keyProblem``.
    let key: SigningKey?
    /// Why the key may not be used; `nil` if it may.
    let keyProblem: String?

    init(_ certificate: Certificate) throws(DERError) {
        self.certificate = certificate
        der = certificate.der
        fields = try CertificateFields(der)
        do throws(SigningKey.Problem) {
            key = try SigningKey(fields.publicKey)
            keyProblem = nil
        } catch {
            key = nil
            keyProblem = error.reason
        }
    }

    // MARK: The library's part

    /// 112 bits: no SHA-1 and no MD5 in any signature.
    private static let minimumSecurity: CInt = 112

    /// What is wrong with the algorithm of the signature; `nil` if nothing is.
    var signatureProblem: String? {
        var security: CInt = 0
        defer { cw_ERR_clear_error() }
        guard cw_X509_get_signature_info(certificate.object.pointer, nil, nil, &security, nil) == 1,
            security >= Self.minimumSecurity
        else { return certificate.signatureAlgorithm }
        return nil
    }

    /// Whether `issuer` has the key that signed this. The caller has held that key against the rules.
    func isSigned(by issuer: JudgedCertificate) -> Bool {
        defer { cw_ERR_clear_error() }
        guard let key = cw_X509_get0_pubkey(issuer.certificate.object.pointer) else { return false }
        return cw_X509_verify(certificate.object.pointer, key) == 1
    }
}
