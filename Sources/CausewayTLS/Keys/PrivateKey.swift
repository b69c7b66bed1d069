internal import CCausewayLibraries

/// A private key without a certificate.
package struct PrivateKey: Sendable {
    let object: SharedObject

    init(_ object: SharedObject) { self.object = object }

    /// Generates an RSA key with the public exponent 65,537.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails.
    package init(generatingRSA bitCount: Int) throws(TLSFailure) {
        try OpenSSLLibrary.load()
        self.init(try Self.make("RSA", parameter: "rsa_keygen_bits", "\(bitCount)"))
    }

    /// Generates an elliptic curve key.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails.
    package init(generating curve: NamedCurve) throws(TLSFailure) {
        try OpenSSLLibrary.load()
        self.init(try Self.make("EC", parameter: "ec_paramgen_curve", curve.name))
    }

    /// The key in its algorithm's format: RSAPrivateKey (RFC 8017 §A.1.2) or ECPrivateKey (RFC 5915 §3). Treat as a secret.
    package var der: [UInt8] { encoded { cw_i2d_PrivateKey(object.pointer, $0) } }

    /// The public key that belongs to this private key, as SubjectPublicKeyInfo in DER.
    package var publicKeyInfo: [UInt8] { encoded { cw_i2d_PUBKEY(object.pointer, $0) } }

    /// Generates a key. OpenSSL must be loaded.
    ///
    /// - Parameters:
    ///   - name: OpenSSL's name for the type of key, such as `RSA`.
    ///   - parameter: The name of an OpenSSL option to set, such as `rsa_keygen_bits`; `nil` to set no option.
    ///   - value: The option's value.
    static func make(_ name: String, parameter: String?, _ value: String) throws(TLSFailure) -> SharedObject {
        cw_ERR_clear_error()
        guard let context = cw_EVP_PKEY_CTX_new_from_name(nil, name, nil) else {
            throw TLSFailure(.library, OpenSSLLibrary.takeReason())
        }
        defer { cw_EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard cw_EVP_PKEY_keygen_init(context) == 1,
            parameter.map({ cw_EVP_PKEY_CTX_ctrl_str(context, $0, value) == 1 }) ?? true,
            cw_EVP_PKEY_generate(context, &key) == 1, let key
        else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        return SharedObject(owning: key, .key)
    }
}
