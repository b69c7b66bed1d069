internal import CCausewayLibraries

/// The only owner of a connection's OpenSSL object. It also owns the memory pipe through which this object reads and
/// writes.
struct LibraryConnection: ~Copyable {
    let ssl: OpaquePointer
    let pipe: OpaquePointer

    /// - Throws: ``TLSFailure`` with `errSSLInternal` if memory allocation fails.
    init(_ context: TLSContext, usesDatagrams: Bool) throws(TLSFailure) {
        cw_ERR_clear_error()
        guard let ssl = cw_SSL_new(context.object.pointer) else {
            throw TLSFailure(.library, OpenSSLLibrary.takeReason())
        }
        let newPipe = cw_pipe_new(usesDatagrams)
        guard let pipe = newPipe, let bio = cw_pipe_bio(pipe) else {
            cw_pipe_free(newPipe)
            cw_SSL_free(ssl)
            throw TLSFailure(.library, OpenSSLLibrary.takeReason())
        }
        cw_SSL_set_bio(ssl, bio, bio)
        self.ssl = ssl
        self.pipe = pipe
    }

    deinit {
        // Mark the connection as closed on both sides. Otherwise OpenSSL treats the abrupt end as an error. It would
        // then invalidate the session for all connections that could resume it.
        cw_SSL_set_shutdown(ssl, CInt(CW_SENT_SHUTDOWN | CW_RECEIVED_SHUTDOWN))
        // Remove the reference to the engine, because the engine is being destroyed. OpenSSL may call callbacks while
        // it frees its object, and they must not find the engine.
        cw_SSL_set_ex_data(ssl, 0, nil)
        cw_SSL_free(ssl)
        cw_pipe_free(pipe)
    }
}
