internal import CCausewayLibraries

/// A certificate with its parsed fields, for validation.
struct ParsedCertificate: Sendable {
    let certificate: Certificate
    let der: [UInt8]
    let fields: CertificateFields
    /// The public key; `nil` if it is rejected: see ``keyProblem``.
    let key: SigningKey?
    /// The reason why the key is rejected; `nil` if it is accepted.
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

    // MARK: Signatures (OpenSSL)

    /// The minimum security level in bits. 112 bits exclude SHA-1 and MD5 signatures.
    private static let minimumSecurity: CInt = 112

    /// The reason why the signature algorithm is rejected; `nil` if it is accepted.
    var signatureProblem: String? {
        var security: CInt = 0
        defer { cw_ERR_clear_error() }
        guard cw_X509_get_signature_info(certificate.object.pointer, nil, nil, &security, nil) == 1,
            security >= Self.minimumSecurity
        else { return certificate.signatureAlgorithm }
        return nil
    }

    /// Returns whether this certificate was signed with the issuer's key. The caller has already validated the key.
    func isSigned(by issuer: ParsedCertificate) -> Bool {
        defer { cw_ERR_clear_error() }
        guard let key = cw_X509_get0_pubkey(issuer.certificate.object.pointer) else { return false }
        return cw_X509_verify(certificate.object.pointer, key) == 1
    }
}
