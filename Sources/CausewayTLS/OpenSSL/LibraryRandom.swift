internal import CCausewayLibraries

/// Random bytes by OpenSSL's generator, for values that a peer must not predict.
enum LibraryRandom {
    /// Returns random bytes. OpenSSL must be loaded.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if the generator fails, for example without a source of entropy.
    static func bytes(_ count: Int) throws(TLSFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard cw_RAND_bytes(&bytes, CInt(count)) == 1 else {
            throw TLSFailure(.library, "no random bytes: \(OpenSSLLibrary.takeReason())")
        }
        return bytes
    }
}
