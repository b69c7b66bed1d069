internal import CCausewayLibraries

/// Signature digests (FIPS 180-4 §1).
package enum SignatureDigest: Int, CaseIterable, Hashable, Sendable {
    case sha1 = 160
    case sha224 = 224
    case sha256 = 256
    case sha384 = 384
    case sha512 = 512

    package var byteCount: Int { rawValue / 8 }

    /// The name in OpenSSL and Apple's API.
    package var name: String { self == .sha1 ? "SHA1" : "SHA\(rawValue)" }

    /// Computes the digest. Returns `nil` if OpenSSL cannot be loaded or fails.
    package func hash(_ bytes: [UInt8]) -> [UInt8]? {
        guard (try? OpenSSLLibrary.load()) != nil else { return nil }
        var digest = [UInt8](repeating: 0, count: byteCount)
        var count: CUnsignedInt = 0
        guard cw_EVP_Digest(bytes, bytes.count, &digest, &count, method, nil) == 1, count == byteCount else {
            OpenSSLLibrary.forgetErrors()
            return nil
        }
        return digest
    }

    private var method: OpaquePointer? {
        switch self {
        case .sha1: cw_EVP_sha1()
        case .sha224: cw_EVP_sha224()
        case .sha256: cw_EVP_sha256()
        case .sha384: cw_EVP_sha384()
        case .sha512: cw_EVP_sha512()
        }
    }
}
