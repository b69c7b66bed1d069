internal import CCausewayOpenSSL
package import CausewayTypes

/// ``TLSEngine`` by OpenSSL.
///
/// OpenSSL reads and writes through a pipe in memory. Ciphertext that arrives is copied once, from the owner's block into the
/// library's record; ciphertext that leaves is collected in one buffer, so that a burst of records goes out in one call.
package final class OpenSSLEngine: TLSEngine {
    enum State {
        case handshaking
        case awaitingTrust(PeerTrust)
        case awaitingIdentity(TLSChallenge)
        case established
        case failed(TLSFailure)
    }

    /// Bytes that may wait to be sent before ``write(_:)`` takes no more.
    static let unsentLimit = 256 << 10
    /// Bytes that may arrive and not be read.
    static let unreadLimit = 1 << 20
    static let unreadDatagramLimit = 64 << 10

    /// Bytes sent early at most, whatever the server allows: they are kept to be sent again, and must fit ``unsentLimit`` then.
    static let maximumEarlyData = 64 << 10

    let context: TLSContext
    // Copies of what every read and write asks for: the settings as a whole are many references.
    let usesDatagrams: Bool
    let isClient: Bool
    let ssl: OpaquePointer
    let pipe: OpaquePointer
    let reference: ReferenceName?
    let sessionPeer: SessionCache.Peer?

    var state = State.handshaking
    /// What the callbacks leave for the call that they happened in.
    var pendingTrust: PeerTrust?
    var pendingChallenge: TLSChallenge?
    var pendingFailure: TLSFailure?
    /// What our own rules accepted: the peer's certificates and the chain that they make.
    var accepted: (trust: PeerTrust, chain: [Certificate])?
    /// What the owner accepted.
    var ownersTrust: PeerTrust?
    /// The first flight is out: the peer's certificates may be in the next.
    var hasSpoken = false
    /// The owner's answers. `nil` while not asked.
    var verdict: Bool?
    var hasChosenIdentity = false

    /// What was or is to be sent early.
    var earlyOutput: [UInt8] = []
    /// How much of it the library has taken.
    var earlyOutputSent = 0
    /// What came early, to be read once the handshake is done.
    var earlyInput: [UInt8] = []
    var isReadingEarly = false
    /// How reading ended, told again and again.
    var readEnd: TLSReadResult?
    /// Reading has used up what arrived.
    var isDry = false
    var isClosed = false
    /// Memory of the owner's or of the pipe's is in use by the other: nothing may move.
    var isLending = false
    var isShowing = false
    /// AES-GCM is safe for 2^24.5 records under one key (RFC 8446 §5.5): the key changes before.
    var recordsUntilKeyUpdate = 1 << 24
    let cookie: [UInt8]

    package var keyLog: ((String) -> Void)?

    var settings: TLSSettings { context.settings }

    /// - Parameters:
    ///   - host: For a client, whom to reach: what the certificate must name, and the server name that is sent. A name that a
    ///     program sets for TLS alone goes here.
    ///   - port: Together with `host` it tells sessions apart.
    /// - Throws: ``TLSFailure`` with `errSSLInternal` when memory is short.
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
        sessionPeer = host.map { SessionCache.Peer(host: $0.debugDescription, port: port) }
        cw_SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if isDatagram {
            cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_MTU), settings.maximumDatagram, nil)
            cw_DTLS_set_timer_cb(ssl, timerCallback)
        }
        if isClient { prepareClient() } else { prepareServer() }
    }

    deinit {
        // Without this the library takes an abrupt end for a reason to spoil the session for everybody who could resume it.
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

    /// Whoever calls the engine from within ``sendCiphertext(_:)`` pulls the bytes away from under itself.
    func checkIsNotShowing() { precondition(!isShowing, "the engine was called from within sendCiphertext") }

    /// The engine whose library object this is: for callbacks.
    static func of(_ ssl: OpaquePointer?) -> OpenSSLEngine? {
        guard let ssl, let pointer = cw_SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<OpenSSLEngine>.fromOpaque(pointer).takeUnretainedValue()
    }
}
