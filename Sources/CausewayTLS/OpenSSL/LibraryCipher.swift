internal import CCausewayLibraries

/// Message authentication and AES by OpenSSL, for single short messages.
///
/// Each function returns `nil` if OpenSSL cannot be loaded, if a length is wrong, or if OpenSSL fails. Any thread may
/// call these functions. They leave no errors in the thread's OpenSSL queue, because a TLS connection would report the
/// errors as its own.
package enum LibraryCipher {
    private static let (keyLength, blockLength, nonceLength, tagLength, digestLength) = (16, 16, 12, 16, 32)

    /// Computes HMAC with SHA-256 (RFC 2104): 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8]? {
        guard isLoaded, let keyLength = CInt(exactly: key.count) else { return nil }
        var digest = [UInt8](repeating: 0, count: digestLength)
        var count: CUnsignedInt = 0
        guard cw_HMAC(cw_EVP_sha256(), key, keyLength, message, message.count, &digest, &count) != nil,
            count == digestLength
        else {
            OpenSSLLibrary.forgetErrors()
            return nil
        }
        return digest
    }

    /// Encrypts one block of 16 bytes with AES-128 (FIPS 197).
    package static func aes128(key: [UInt8], block: [UInt8]) -> [UInt8]? {
        guard isLoaded, key.count == keyLength, block.count == blockLength else { return nil }
        return withContext { context in
            guard cw_EVP_CipherInit_ex(context, cw_EVP_aes_128_ecb(), nil, key, nil, 1) == 1 else { return nil }
            return update(context, block)
        }
    }

    /// Verifies and decrypts with AES-128-GCM (RFC 5116 §5.1). Returns `nil` if the tag, the last 16 bytes of `sealed`, is wrong.
    package static func openAES128GCM(
        key: [UInt8], nonce: [UInt8], authenticated: [UInt8], sealed: [UInt8]
    ) -> [UInt8]? {
        guard isLoaded, key.count == keyLength, nonce.count == nonceLength, sealed.count >= tagLength else {
            return nil
        }
        var tag = Array(sealed.suffix(tagLength))
        return withContext { context in
            var count: CInt = 0
            guard cw_EVP_CipherInit_ex(context, cw_EVP_aes_128_gcm(), nil, key, nonce, 0) == 1,
                cw_EVP_CipherUpdate(context, nil, &count, authenticated, CInt(authenticated.count)) == 1,
                let opened = update(context, Array(sealed.dropLast(tagLength))),
                cw_EVP_CIPHER_CTX_ctrl(context, CInt(CW_CIPHER_SET_TAG), CInt(tagLength), &tag) == 1
            else { return nil }
            var rest = [UInt8](repeating: 0, count: blockLength)
            return cw_EVP_CipherFinal_ex(context, &rest, &count) == 1 ? opened : nil
        }
    }

    private static var isLoaded: Bool { (try? OpenSSLLibrary.load()) != nil }

    /// Calls `body` with a new OpenSSL cipher context. Clears the error queue after a failure.
    private static func withContext(_ body: (OpaquePointer) -> [UInt8]?) -> [UInt8]? {
        let context = cw_EVP_CIPHER_CTX_new()
        defer { cw_EVP_CIPHER_CTX_free(context) }
        let result = context.flatMap(body)
        if result == nil { OpenSSLLibrary.forgetErrors() }
        return result
    }

    /// Encrypts or decrypts bytes. Returns `nil` if the output length differs from the input length.
    private static func update(_ context: OpaquePointer, _ bytes: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: bytes.count + blockLength)
        var count: CInt = 0
        guard cw_EVP_CipherUpdate(context, &output, &count, bytes, CInt(bytes.count)) == 1, count == bytes.count else {
            return nil
        }
        output.removeLast(blockLength)
        return output
    }
}
