internal import CCausewayLibraries

/// A local identity: a private key, its certificate, and the intermediate certificates.
package struct TLSIdentity: Sendable {
    /// The certificates, the identity's own first.
    package let certificates: [Certificate]
    let key: SharedObject

    init(certificates: [Certificate], key: SharedObject) throws(TLSFailure) {
        guard let leaf = certificates.first else {
            throw TLSFailure(.badCertificate, "an identity needs at least one certificate")
        }
        let fits = cw_X509_check_private_key(leaf.object.pointer, key.pointer) == 1
        cw_ERR_clear_error()
        guard fits else {
            throw TLSFailure(.badCertificate, "the private key does not match the certificate \"\(leaf)\"")
        }
        self.certificates = certificates
        self.key = key
    }

    /// Combines DER certificates with a private key.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert` if a certificate is malformed, or if the key does not match the
    ///   first certificate.
    package init(derCertificates: [[UInt8]], key: PrivateKey) throws(TLSFailure) {
        var chain: [Certificate] = []
        for der in derCertificates { chain.append(try Certificate(der: der)) }
        try self.init(certificates: chain, key: key.object)
    }

    /// The private key without its certificates.
    package var privateKey: PrivateKey { PrivateKey(key) }

    /// OpenSSL's signature scheme name for an Edwards curve key; `nil` for other keys.
    var edwardsScheme: String? { EdwardsCurve(key.pointer)?.schemeName }

    /// Parses PEM certificates and a PEM key, which may be in the same text.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`, for example if the password is wrong or missing.
    package init(certificates: [UInt8], key: [UInt8], password: String? = nil) throws(TLSFailure) {
        let chain = try Certificate.all(pem: certificates)
        let pointer: OpaquePointer? = key.withUnsafeBytes { bytes in
            guard let bio = cw_BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
            defer { cw_BIO_free(bio) }
            guard var password = password?.utf8CString else {
                return cw_PEM_read_bio_PrivateKey(bio, nil, cw_password, nil)
            }
            return password.withUnsafeMutableBytes { cw_PEM_read_bio_PrivateKey(bio, nil, cw_password, $0.baseAddress) }
        }
        try self.init(certificates: chain, key: Self.key(pointer))
    }

    /// Parses a PKCS #12 archive (RFC 7292).
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`, for example for an archive with a cipher that OpenSSL 3 does
    ///   not support, such as RC2.
    package init(pkcs12: [UInt8], password: String) throws(TLSFailure) {
        try OpenSSLLibrary.load()
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        let isRead = pkcs12.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let archive = cw_d2i_PKCS12(nil, &cursor, bytes.count) else { return false }
            defer { cw_PKCS12_free(archive) }
            return cw_PKCS12_parse(archive, password, &key, &leaf, &others) == 1
        }
        let chain = Certificate.all(in: others)
        if let others { cw_free_certificates(UnsafeMutableRawPointer(others)) }
        let ownLeaf = leaf.map { Certificate(object: SharedObject(owning: $0, .certificate)) }
        let ownKey = key.map { SharedObject(owning: $0, .key) }
        guard isRead, let ownLeaf, let ownKey else {
            let reason = OpenSSLLibrary.takeReason()
            throw TLSFailure(.badCertificate, "cannot read an identity from the PKCS #12 archive: \(reason)")
        }
        try self.init(certificates: [ownLeaf] + chain, key: ownKey)
    }

    /// The private key in DER. Treat as a secret.
    package var privateKeyDER: [UInt8] { encoded { cw_i2d_PrivateKey(key.pointer, $0) } }

    /// Exports certificates and key as a PKCS #12 archive (RFC 7292). Returns an empty array if OpenSSL fails.
    package func pkcs12(password: String) -> [UInt8] {
        let archive = withStack(of: Array(certificates.dropFirst())) { others in
            cw_PKCS12_create(password, nil, key.pointer, certificates[0].object.pointer, others, 0, 0, 0, 0, 0)
        }
        guard let archive else { return [] }
        defer { cw_PKCS12_free(archive) }
        return encoded { cw_i2d_PKCS12(archive, $0) }
    }

    private static func key(_ pointer: OpaquePointer?) throws(TLSFailure) -> SharedObject {
        guard let pointer else {
            throw TLSFailure(.badCertificate, "no private key in this PEM: \(OpenSSLLibrary.takeReason())")
        }
        return SharedObject(owning: pointer, .key)
    }
}

extension TLSIdentity: Hashable {
    package static func == (a: TLSIdentity, b: TLSIdentity) -> Bool { a.certificates == b.certificates }

    package func hash(into hasher: inout Hasher) { hasher.combine(certificates) }
}
