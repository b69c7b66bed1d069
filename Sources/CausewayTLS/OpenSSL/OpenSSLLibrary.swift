internal import CCausewayLibraries

/// The system's OpenSSL 3, loaded on first use.
package enum OpenSSLLibrary {
    /// An error message with the package to install, or `nil` if the library is loaded.
    private static let problem: String? = cw_openssl_load().map { String(cString: $0) }

    /// Loads the library once per process.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLModuleAttach` and the name of the package to install.
    package static func load() throws(TLSFailure) {
        if let problem { throw TLSFailure(.libraryMissing, problem) }
    }

    /// Returns the version text, such as `OpenSSL 3.0.19 27 Jan 2026`.
    package static func version() throws(TLSFailure) -> String {
        try load()
        return String(cString: cw_OpenSSL_version(0))
    }

    /// Tries to load OpenSSL from libraries with the given file names, but does not use these libraries afterwards. For
    /// tests. Returns the error message, or `nil` on success.
    package static func probe(crypto: String, ssl: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_openssl_probe(crypto, ssl, &message, message.count) { return nil }
        return message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Returns the oldest error in this thread's OpenSSL error queue, and clears the queue.
    static func takeReason() -> String {
        let code = cw_ERR_get_error()
        cw_ERR_clear_error()
        return code == 0 ? "no reason given" : reason(code)
    }

    /// Clears OpenSSL's error queue before a call whose errors the caller will read from it.
    ///
    /// The queue is nearly always empty, and checking it is cheaper than clearing it. So this method clears it only if
    /// it contains errors.
    static func forgetErrors() {
        if cw_ERR_peek_error() != 0 { cw_ERR_clear_error() }
    }

    /// Returns the text for an OpenSSL error.
    static func reason(_ code: UInt) -> String {
        if let reason = cw_ERR_reason_error_string(code) { return String(cString: reason) }
        var text = [CChar](repeating: 0, count: 256)
        cw_ERR_error_string_n(code, &text, text.count)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
