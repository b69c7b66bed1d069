internal import CCausewayLibraries
package import CausewayTypes

/// A ``TLSEngine`` that uses OpenSSL.
///
/// OpenSSL reads from and writes to a memory pipe. Received ciphertext is copied once, from the owner's buffer into OpenSSL's record
/// buffer. Ciphertext to send is collected in one buffer, so that one call can send several records.
package final class OpenSSLEngine: TLSEngine {
    enum Role {
        /// `reference` is the name that the server's certificate must contain; `nil` without a host, or if no
        /// certificate can contain the host.
        case client(reference: ReferenceName?, sessionPeer: SessionCache.Peer?)
        /// A server. A DTLS client must return `cookie` to prove its address (RFC 6347 §4.2.1). Over a stream, `cookie`
        /// is empty.
        case server(cookie: [UInt8])
    }

    /// The handshake's state. During a handshake call, OpenSSL's callbacks can set it to `awaitingTrust` or
    /// `awaitingIdentity`.
    enum State {
        /// Nothing was sent yet, so input cannot contain the peer's certificates.
        case starting
        case handshaking
        case awaitingTrust(PeerTrust)
        case awaitingIdentity(TLSChallenge)
        case established
        case failed(TLSFailure)
    }

    /// The decision about the peer's certificates.
    enum PeerDecision {
        case pending
        /// The trust rules have accepted the certificates. `chain` is the accepted path: the peer's own certificate is
        /// first, and the anchor is last.
        case acceptedByRules(PeerTrust, chain: [Certificate])
        case acceptedByOwner(PeerTrust)
        /// This side rejected the peer, with this reason. The reason is stored here, because OpenSSL reports only that
        /// its callback returned an error.
        case rejected(TLSFailure)
    }

    enum ReadSide {
        /// OpenSSL may hold received data that has not been read.
        case open
        /// All received data has been read.
        case drained
        /// The peer has closed, and all its content was read.
        case ended
        case failed(TLSFailure)

        /// The result of all further reads; `nil` if more data may arrive.
        @inline(__always) var end: TLSReadResult? {
            switch self {
            case .open, .drained: nil
            case .ended: .ended
            case .failed(let failure): .failed(failure)
            }
        }

        /// Records that OpenSSL may have plaintext to read again.
        mutating func reopen() {
            if case .drained = self { self = .open }
        }
    }

    enum WriteSide {
        /// AES-GCM is safe for 2^24.5 records per key (RFC 8446 §5.5). The key is updated before this limit.
        case open(recordsUntilKeyUpdate: Int)
        case closed

        static let maximumRecordsPerKey = 1 << 24
    }

    /// Whose buffer is borrowed during a call. A borrowed buffer must not move in memory.
    enum BorrowedBuffer {
        case none
        /// OpenSSL's memory pipe is reading a buffer that belongs to the caller of the engine.
        case ofCaller
        /// The engine's owner (the code that uses the engine) reads the buffer of OpenSSL's memory pipe.
        case ofPipe
    }

    /// The unsent byte count at which ``write(_:)`` stops accepting plaintext.
    static let unsentLimit = 256 << 10
    /// The maximum number of received bytes not yet read.
    static let unreadLimit = 1 << 20
    static let unreadDatagramLimit = 64 << 10

    /// The maximum early data in bytes, even if the server allows more. The data is kept for a resend, and must then
    /// fit in ``unsentLimit``.
    static let maximumEarlyData = 64 << 10

    let context: TLSContext
    private let connection: LibraryConnection
    let role: Role
    // A copy of one setting that each read and write needs. To read it from the settings, the engine would have to copy
    // all of them and retain many references.
    let usesDatagrams: Bool

    var state = State.starting
    var peerDecision = PeerDecision.pending
    /// Whether the engine's owner (the code that uses the engine) has answered ``TLSProgress/chooseIdentity(_:)``.
    var didChooseIdentity = false
    var earlyData = EarlyData.none
    var reading = ReadSide.open
    var writing = WriteSide.open(recordsUntilKeyUpdate: WriteSide.maximumRecordsPerKey)
    var borrowedBuffer = BorrowedBuffer.none

    package var keyLog: ((String) -> Void)?

    var settings: TLSSettings { context.settings }
    @inline(__always) var ssl: OpaquePointer { connection.ssl }
    @inline(__always) var pipe: OpaquePointer { connection.pipe }

    var isClient: Bool {
        if case .client = role { true } else { false }
    }

    /// Creates an engine for one connection.
    ///
    /// - Parameters:
    ///   - context: The settings and resumable sessions. Connections with equal settings share them.
    ///   - host: On a client, the host name of the server. The certificate must contain this name, and the server name
    ///     extension sends it. If the program has set a separate name for TLS, pass that name. `nil` on a server.
    ///   - port: The port. `host` and `port` together select resumable sessions.
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if memory allocation or random number generation fails.
    package init(_ context: TLSContext, host: NWEndpoint.Host? = nil, port: UInt16 = 0) throws(TLSFailure) {
        self.context = context
        usesDatagrams = context.settings.usesDatagrams
        connection = try LibraryConnection(context, usesDatagrams: context.settings.usesDatagrams)
        role = try Self.role(context.settings, host, port)
        cw_SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if usesDatagrams {
            cw_SSL_ctrl(ssl, CInt(CW_CTRL_SET_MTU), settings.maximumDatagram, nil)
            cw_DTLS_set_timer_cb(ssl, timerCallback)
        }
        switch role {
        case .client(let reference, let sessionPeer): prepareClient(reference, sessionPeer)
        case .server: prepareServer()
        }
    }

    private static func role(
        _ settings: TLSSettings, _ host: NWEndpoint.Host?, _ port: UInt16
    ) throws(TLSFailure) -> Role {
        switch settings.side {
        case .client:
            return .client(
                reference: host.flatMap { ReferenceName($0) },
                sessionPeer: host.map { SessionCache.Peer($0, port: port) })
        case .server:
            return .server(cookie: settings.usesDatagrams ? try LibraryRandom.bytes(16) : [])
        }
    }

    private func prepareClient(_ reference: ReferenceName?, _ sessionPeer: SessionCache.Peer?) {
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
        if settings.isEarlyDataEnabled, !usesDatagrams { earlyData = .receiving([]) }
    }

    /// Traps if the engine is called from within the ``sendCiphertext(_:)`` closure.
    ///
    /// Such a call could move the memory that the closure is reading.
    func checkPipeBufferIsNotBorrowed() {
        precondition(borrowedBuffer != .ofPipe, "the engine was called from within sendCiphertext")
    }

    /// Returns an OpenSSL object's engine, for callbacks.
    static func of(_ ssl: OpaquePointer?) -> OpenSSLEngine? {
        guard let ssl, let pointer = cw_SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<OpenSSLEngine>.fromOpaque(pointer).takeUnretainedValue()
    }
}
