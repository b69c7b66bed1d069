internal import CCausewayLibraries

/// A signature algorithm: the padding, the digest, and whether the input is hashed first.
package struct SignatureScheme: Hashable, Sendable {
    package enum Padding: Hashable, Sendable {
        /// RSA without padding.
        case none
        /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
        case pkcs1
        /// RSASSA-PSS (RFC 8017 §8.1) with MGF1 and a salt as long as the digest.
        case pss
        /// ECDSA with the DER of ECDSA-Sig-Value (RFC 3279 §2.2.3).
        case ecdsa
    }

    package let padding: Padding
    /// The digest algorithm; `nil` if the caller chooses it. With PSS padding there is always a digest.
    package let digest: SignatureDigest?
    /// Whether the input is a message, which must first be hashed. If `false`, the input is the digest.
    package let hashesInput: Bool

    package init(_ padding: Padding, _ digest: SignatureDigest? = nil, hashesInput: Bool = false) {
        precondition(digest != nil || (padding != .pss && !hashesInput), "the scheme needs a digest")
        self.padding = padding
        self.digest = digest
        self.hashesInput = hashesInput
    }

    package var algorithm: PublicKeyInfo.Algorithm { padding == .ecdsa ? .ellipticCurve : .rsa }

    /// Whether an RSA key of this size in bits is large enough for the padding. PSS encodes into one bit less than the
    /// modulus (RFC 8017 §8.1.1).
    package func fits(bitCount: Int) -> Bool {
        padding != .pss || (bitCount + 6) / 8 >= 2 * (digest?.byteCount ?? 0) + 2
    }

    /// Returns whether a key of `bitCount` bits can sign `count` bytes of input.
    package func accepts(_ count: Int, bitCount: Int) -> Bool {
        if hashesInput { return true }
        if let digest { return count == digest.byteCount }
        let blockSize = (bitCount + 7) / 8
        switch padding {
        case .none: return count == blockSize
        // The padding of RSASSA-PKCS1-v1_5 has at least 11 bytes (RFC 8017 §9.2).
        case .pkcs1: return count <= blockSize - 11
        case .ecdsa, .pss: return count > 0
        }
    }

    /// Signs a message or digest.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails, for example for an input of the wrong length.
    package func sign(_ input: [UInt8], _ key: PrivateKey) throws(TLSFailure) -> [UInt8] {
        try OpenSSLLibrary.load()
        var signature = [UInt8](repeating: 0, count: PublicKey.modulusBits.upperBound / 8)
        var count = signature.count
        let isSigned = withContext(key.object, { cw_EVP_PKEY_sign_init($0) }) { context in
            guard let content = content(input) else { return false }
            return cw_EVP_PKEY_sign(context, &signature, &count, content, content.count) == 1
        }
        guard isSigned else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        return Array(signature.prefix(count))
    }

    /// Returns whether the private key that belongs to the public key signed a message or digest. Returns `false` for a
    /// malformed signature.
    package func verify(_ input: [UInt8], _ signature: [UInt8], _ key: PublicKey) -> Bool {
        guard (try? OpenSSLLibrary.load()) != nil else { return false }
        defer { OpenSSLLibrary.forgetErrors() }
        return withContext(key.object, { cw_EVP_PKEY_verify_init($0) }) { context in
            guard let content = content(input) else { return false }
            return cw_EVP_PKEY_verify(context, signature, signature.count, content, content.count) == 1
        }
    }

    private func content(_ input: [UInt8]) -> [UInt8]? {
        guard hashesInput, let digest else { return input }
        return digest.hash(input)
    }

    /// Calls `body` with an OpenSSL key context (`EVP_PKEY_CTX`) that `begin` and this scheme's options have prepared.
    /// Returns `false` if OpenSSL fails.
    private func withContext(
        _ key: SharedObject, _ begin: (OpaquePointer) -> CInt, _ body: (OpaquePointer) -> Bool
    ) -> Bool {
        cw_ERR_clear_error()
        guard let context = cw_EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { return false }
        defer { cw_EVP_PKEY_CTX_free(context) }
        return begin(context) == 1
            && options.allSatisfy { cw_EVP_PKEY_CTX_ctrl_str(context, $0.name, $0.value) == 1 } && body(context)
    }

    /// The names and values of the OpenSSL options for this scheme, in an order that OpenSSL accepts.
    private var options: [(name: String, value: String)] {
        let digest = digest.map { [("digest", $0.name)] } ?? []
        return switch padding {
        case .none: [("rsa_padding_mode", "none")]
        case .pkcs1: [("rsa_padding_mode", "pkcs1")] + digest
        case .pss: [("rsa_padding_mode", "pss")] + digest + [("rsa_pss_saltlen", "digest")]
        case .ecdsa: digest
        }
    }
}
