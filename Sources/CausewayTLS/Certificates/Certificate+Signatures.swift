internal import CCausewayLibraries

extension TLSIdentity {
    /// Signs bytes with the private key and SHA-256; an Edwards curve key uses its own digest.
    ///
    /// - Returns: The signature; for elliptic curves, ECDSA-Sig-Value in DER (RFC 3279 §2.2.3).
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails.
    package func sign(_ bytes: [UInt8]) throws(TLSFailure) -> [UInt8] {
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        return try CertificateTemplate.sign(bytes, key, usesSHA1: false)
    }
}

extension Certificate {
    /// Returns whether this certificate's private key signed `bytes`. `false` for malformed signatures.
    package func hasSigned(_ bytes: [UInt8], signature: [UInt8]) -> Bool {
        guard (try? OpenSSLLibrary.load()) != nil, let key = cw_X509_get0_pubkey(object.pointer),
            let context = cw_EVP_MD_CTX_new()
        else { return false }
        defer {
            cw_EVP_MD_CTX_free(context)
            cw_ERR_clear_error()
        }
        let digest = EdwardsCurve(key) != nil ? nil : cw_EVP_sha256()
        return cw_EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1
            && cw_EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }
}
