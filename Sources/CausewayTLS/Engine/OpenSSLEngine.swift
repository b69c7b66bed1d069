internal import CCausewayOpenSSL
package import CausewayTypes

/// A ``TLSEngine`` that uses OpenSSL.
///
/// OpenSSL reads from and writes to a memory pipe. Received ciphertext is copied once, from the owner's buffer into OpenSSL's record
/// buffer. Ciphertext to send is collected in one buffer, so that one call can send several records.
package final class OpenSSLEngine: TLSEngine {
    enum State {
        case handshaking
        case awaitingTrust(PeerTrust)
        case awaitingIdentity(TLSChallenge)
        case established
        case failed(TLSFailure)
    }

    /// The unsent byte count at which ``write(_:)`` stops accepting plaintext.
    static let unsentLimit = 256 << 10
    /// The maximum number of received bytes not yet read.
    static let unreadLimit = 1 << 20
    static let unreadDatagramLimit = 64 << 10

    /// The maximum early data in bytes, even if the server allows more: the data is kept for a resend and must then fit
    /// in ``unsentLimit``.
    static let maximumEarlyData = 64 << 10

    let context: TLSContext
    // Copies of settings that each read and write needs. Copying all settings would retain many references.
    let usesDatagrams: Bool
    let isClient: Bool
    let ssl: OpaquePointer
    let pipe: OpaquePointer
    let reference: ReferenceName?
    let sessionPeer: SessionCache.Peer?

    var state = State.handshaking
    /// Callback results from the current call.
    var pendingTrust: PeerTrust?
    var pendingChallenge: TLSChallenge?
    var pendingFailure: TLSFailure?
    /// The peer's certificates, and the chain accepted by the built-in rules.
    var accepted: (trust: PeerTrust, chain: [Certificate])?
    /// The certificates accepted by the owner.
    var ownersTrust: PeerTrust?
    /// Whether the first flight was sent. Further input may then contain the peer's certificates.
    var hasSpoken = false
    /// The owner's decisions; `nil` or `false` until the owner decides.
    var verdict: Bool?
    var hasChosenIdentity = false

    /// Early data to send, or already sent.
    var earlyOutput: [UInt8] = []
    /// Early data bytes that OpenSSL has accepted.
    var earlyOutputSent = 0
    /// Received early data, to be read after the handshake.
    var earlyInput: [UInt8] = []
    var isReadingEarly = false
    /// The final read result. Every further read returns it.
    var readEnd: TLSReadResult?
    /// Whether all received data has been read.
    var isDry = false
    var isClosed = false
    /// `isLending`: the memory pipe borrows the owner's buffer. `isShowing`: the owner borrows the pipe's buffer. A
    /// buffer must not move while it is borrowed.
    var isLending = false
    var isShowing = false
    /// Records until the next key update. AES-GCM is safe for 2^24.5 records per key (RFC 8446 §5.5). The key is
    /// updated before this limit.
    var recordsUntilKeyUpdate = 1 << 24
    let cookie: [UInt8]

    package var keyLog: ((String) -> Void)?

    var settings: TLSSettings { context.settings }

    /// Creates an engine for one connection.
    ///
    /// - Parameters:
    ///   - context: The shared settings and sessions.
    ///   - host: For a client, the server's host: the certificate must contain this name, and the server name
    ///     extension sends it. If the program sets a separate name for TLS, pass that name.
    ///   - port: Distinguishes resumable sessions together with `host`.
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if memory allocation fails.
    package init(_ context: TLSContext, host: NWEndpoint.Host? = nil, port: UInt16 = 0) throws(TLSFailure) {
        cw_ERR_clear_error()
        let isDatagram = context.settings.usesDatagrams
        guard let ssl = cw_SSL_new(context.object.pointer) else {
            throw TLSFailure(.library, OpenSSLLibrary.takeReason())
        }
        guard let pipe = cw_pipe_new(isDatagram), let bio = cw_pipe_bio(pipe) else {
            cw_SSL_free(ssl)
            throw TLSFailure(.library, OpenSSLLibrary.takeReason())
        }
        cw_SSL_set_bio(ssl, bio, bio)
        var cookie = [UInt8](repeating: 0, count: 16)
        if isDatagram, context.settings.side == .server { cw_RAND_bytes(&cookie, CInt(cookie.count)) }
        self.context = context
        usesDatagrams = isDatagram
        isClient = context.settings.side == .client
        self.ssl = ssl
        self.pipe = pipe
        self.cookie = cookie
        reference = host.flatMap { ReferenceName($0) }
        sessionPeer = host.map { SessionCache.Peer($0, port: port) }
        cw_SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if isDatagram {
            cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_MTU), settings.maximumDatagram, nil)
            cw_DTLS_set_timer_cb(ssl, timerCallback)
        }
        if isClient { prepareClient() } else { prepareServer() }
    }

    deinit {
        // Without this call, OpenSSL treats an abrupt end as an error and invalidates the session for all connections
        // that could resume it.
        cw_SSL_set_shutdown(ssl, CInt(CW_SENT_SHUTDOWN | CW_RECEIVED_SHUTDOWN))
        cw_SSL_set_ex_data(ssl, 0, nil)
        cw_SSL_free(ssl)
        cw_pipe_free(pipe)
    }

    private func prepareClient() {
        cw_SSL_set_connect_state(ssl)
        if let name = reference?.serverName {
            name.withCString {
                _ = cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_SERVER_NAME), 0, UnsafeMutableRawPointer(mutating: $0))
            }
        }
        if settings.asksForIdentity { cw_SSL_set_cert_cb(ssl, chooseIdentityCallback, nil) }
        guard settings.isResumptionEnabled, let sessionPeer else { return }
        if let session = context.sessions.take(for: sessionPeer) { cw_SSL_set_session(ssl, session.pointer) }
    }

    private func prepareServer() {
        cw_SSL_set_accept_state(ssl)
        isReadingEarly = settings.isEarlyDataEnabled && !usesDatagrams
    }

    /// Traps if the ``sendCiphertext(_:)`` closure calls the engine. Such a call could move the memory read by the closure.
    func checkIsNotShowing() { precondition(!isShowing, "the engine was called from within sendCiphertext") }

    /// Returns an OpenSSL object's engine, for callbacks.
    static func of(_ ssl: OpaquePointer?) -> OpenSSLEngine? {
        guard let ssl, let pointer = cw_SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<OpenSSLEngine>.fromOpaque(pointer).takeUnretainedValue()
    }
}
