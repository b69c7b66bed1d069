internal import CCausewayOpenSSL

/// The OpenSSL 3 of this system, loaded when it is first needed.
package enum OpenSSLLibrary {
    /// What is missing and what to install, or `nil` when the library is there.
    private static let problem: String? = cw_openssl_load().map { String(cString: $0) }

    /// Loads the library, once per process.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLModuleAttach` and the name of the package to install.
    package static func load() throws(TLSFailure) {
        if let problem { throw TLSFailure(.libraryMissing, problem) }
    }

    /// The version in words, such as `OpenSSL 3.0.19 27 Jan 2026`.
    package static func version() throws(TLSFailure) -> String {
        try load()
        return String(cString: cw_OpenSSL_version(0))
    }

    /// Tries libraries of other names. Returns what is wrong with them; `nil` when nothing is.
    package static func probe(crypto: String, ssl: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_openssl_probe(crypto, ssl, &message, message.count) { return nil }
        return message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// The first reason that the library gives for a failure of this thread's last call, and forgets the others.
    static func takeReason() -> String {
        let code = cw_ERR_get_error()
        cw_ERR_clear_error()
        return code == 0 ? "no reason given" : reason(code)
    }

    /// Before a call whose errors matter. There are none nearly always, and looking is cheaper than wiping the list.
    static func forgetErrors() {
        if cw_ERR_peek_error() != 0 { cw_ERR_clear_error() }
    }

    /// One of the library's errors in words.
    static func reason(_ code: UInt) -> String {
        if let reason = cw_ERR_reason_error_string(code) { return String(cString: reason) }
        var text = [CChar](repeating: 0, count: 256)
        cw_ERR_error_string_n(code, &text, text.count)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}
