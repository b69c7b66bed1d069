internal import CCausewayLibraries

/// SHA-256 by OpenSSL, with incremental input (FIPS 180-4 §6.2).
///
/// OpenSSL uses the processor's SHA instructions, which are several times as fast as portable code. Not `Sendable`: use
/// from one thread at a time.
package final class LibrarySHA256 {
    /// The digest size in bytes.
    package static let byteCount = 32

    private let context: OpaquePointer
    /// Whether all calls so far succeeded.
    private var isSound = true

    /// Returns `nil` if OpenSSL cannot be loaded or does not support the algorithm.
    package init?() {
        guard (try? OpenSSLLibrary.load()) != nil, let context = cw_EVP_MD_CTX_new() else { return nil }
        self.context = context
        guard cw_EVP_DigestInit_ex(context, cw_EVP_sha256(), nil) == 1 else {
            OpenSSLLibrary.forgetErrors()
            return nil
        }
    }

    deinit { cw_EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        isSound = cw_EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 && isSound
    }

    /// Ends the input and returns the digest. If OpenSSL failed, the result is an empty array, which never equals a
    /// digest. Call this once.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        var count: CUnsignedInt = 0
        guard isSound, cw_EVP_DigestFinal_ex(context, &digest, &count) == 1, count == Self.byteCount else {
            OpenSSLLibrary.forgetErrors()
            return []
        }
        isSound = false
        return digest
    }
}
