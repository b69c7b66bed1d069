internal import CCausewayLibraries

/// A public key that verifies signatures: RSA or an elliptic curve.
package struct PublicKey: Sendable {
    let object: SharedObject

    /// The accepted RSA key sizes in bits. The cost of an operation grows with the square of the size.
    package static let modulusBits = 1_024...8_192

    /// Parses a key. The rules of ``SigningKey`` apply before OpenSSL computes with the key, except that 1,024 bits suffice for RSA.
    ///
    /// - Parameter der: The SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`.
    package init(publicKeyInfo der: [UInt8]) throws(TLSFailure) {
        do throws(SigningKey.Problem) {
            _ = try SigningKey(der[...], modulusBits: Self.modulusBits)
        } catch {
            throw TLSFailure(.badCertificate, "unusable public key: \(error.reason)")
        }
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return cw_d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        guard let pointer else {
            throw TLSFailure(.badCertificate, "malformed public key: \(OpenSSLLibrary.takeReason())")
        }
        object = SharedObject(owning: pointer, .key)
    }

    /// Parses a key that must be encoded exactly as OpenSSL would encode it.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadCert`, for example for a point that is not on its curve.
    package init(exactly der: [UInt8]) throws(TLSFailure) {
        try self.init(publicKeyInfo: der)
        guard publicKeyInfo == der else { throw TLSFailure(.badCertificate, "public key not in its canonical form") }
    }

    /// The SubjectPublicKeyInfo in DER.
    package var publicKeyInfo: [UInt8] { encoded { cw_i2d_PUBKEY(object.pointer, $0) } }
}
