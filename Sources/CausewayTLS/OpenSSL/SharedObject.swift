internal import CCausewayLibraries

/// A counted reference to an OpenSSL object, released in `deinit`.
// SAFETY: OpenSSL counts references to these objects atomically. After setup their content is constant or protected by
// OpenSSL's locks. An `SSL` object, which belongs to one thread at a time, is never stored here. Tested by
// `SharingTests`.
final class SharedObject: @unchecked Sendable {
    enum Kind { case certificate, key, context, session }

    let pointer: OpaquePointer
    private let kind: Kind

    /// Takes ownership of a reference from the caller.
    init(owning pointer: OpaquePointer, _ kind: Kind) {
        self.pointer = pointer
        self.kind = kind
    }

    deinit {
        switch kind {
        case .certificate: cw_X509_free(pointer)
        case .key: cw_EVP_PKEY_free(pointer)
        case .context: cw_SSL_CTX_free(pointer)
        case .session: cw_SSL_SESSION_free(pointer)
        }
    }
}

/// Returns the bytes written by an OpenSSL `i2d` function.
func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> CInt) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = encode(&bytes)
    guard count > 0, let bytes else { return [] }
    defer { cw_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
}

extension Certificate {
    /// Returns the certificates in an OpenSSL stack. Each certificate is retained.
    static func all(in stack: OpaquePointer?) -> [Certificate] {
        guard let stack else { return [] }
        return (0..<max(0, cw_OPENSSL_sk_num(stack))).compactMap { index in
            guard let value = cw_OPENSSL_sk_value(stack, index) else { return nil }
            return Certificate(retaining: OpaquePointer(value))
        }
    }
}

/// Calls `body` with an OpenSSL stack that borrows the certificates.
func withStack<R>(of certificates: [Certificate], _ body: (OpaquePointer?) -> R) -> R {
    let stack = cw_OPENSSL_sk_new_null()
    defer { cw_OPENSSL_sk_free(stack) }
    for certificate in certificates { cw_OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.object.pointer)) }
    return body(stack)
}

/// Returns the SHA-256 digest of `bytes`: 32 bytes. Returns an empty array if OpenSSL fails.
func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: CUnsignedInt = 0
    guard cw_EVP_Digest(bytes, bytes.count, &digest, &count, cw_EVP_sha256(), nil) == 1, count == 32 else {
        OpenSSLLibrary.forgetErrors()
        return []
    }
    return digest
}
