/// TLS for one connection, without sockets, threads or time: ciphertext and plaintext go in and out.
///
/// The owner's turn is always the same. It hands over what arrived (``ciphertextArrived(_:_:)``), asks how far things are
/// (``handshake()`` until that says established, then ``read(into:)``), writes what it has (``write(_:)``), and sends what came
/// of it (``sendCiphertext(_:)``): after every call, because a handshake, a closure and a failure have something to send too.
///
/// Not `Sendable`: one thread at a time, in any order.
package protocol TLSEngine: AnyObject {
    /// Lends what arrived from the peer for the duration of `body`, in which it is read; what is left is copied and kept.
    /// `body` does not hand over more.
    ///
    /// With datagrams, `bytes` is one of them. An owner that stops calling ``read(into:)`` stops handing over as well: more
    /// than a megabyte of arrears makes the connection fail.
    func ciphertextArrived<R>(_ bytes: UnsafeRawBufferPointer, _ body: () -> R) -> R
    /// The transport has ended, after what was handed over. Without a closure before it, reading fails then.
    func ciphertextEnded()

    /// Goes on with the handshake as far as it gets.
    func handshake() -> TLSProgress
    /// Whether the next ``handshake()`` may decode and judge the peer's certificates, which takes milliseconds: then it should not be called on
    /// an event loop.
    var mayJudgePeer: Bool { get }
    /// Whether the first ``handshake()`` has nothing to say before the peer has spoken.
    var waitsForPeer: Bool { get }
    /// Answers ``TLSProgress/evaluateTrust(_:)``; afterwards ``handshake()`` goes on.
    func trustEvaluated(isTrusted: Bool)
    /// Answers ``TLSProgress/chooseIdentity(_:)``; afterwards ``handshake()`` goes on.
    func identityChosen(_ identity: TLSIdentity?)

    /// How many bytes may be sent before the handshake (RFC 8446 §2.3). Zero without a session that allows it.
    var earlyDataLimit: Int { get }
    /// Sends a request that does no harm when it arrives twice, before the handshake. Call it before ``handshake()``.
    ///
    /// If the peer does not take it early, it is sent again once the handshake is done, before everything else.
    ///
    /// - Returns: False when it does not fit ``earlyDataLimit``: then nothing was sent.
    func writeEarly(_ plaintext: UnsafeRawBufferPointer) -> Bool

    /// Reads plaintext into `buffer`, as much as is there; with datagrams one message.
    ///
    /// Reading is also what notices tickets, closures, and repetitions of a lost flight: read after each arrival.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSReadResult
    /// Whether ``read(into:)`` could say anything but that it needs ciphertext: false once it has said so, until more arrives.
    var mayHavePlaintext: Bool { get }
    /// Encrypts plaintext.
    ///
    /// - Returns: How much was taken. Less than all when a quarter of a megabyte waits to be sent.
    /// - Throws: What ended the connection; `errSSLBufferOverflow` for a message that does not fit one datagram.
    func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSFailure) -> Int
    /// Says that nothing more will be written (RFC 8446 §6.1). Reading goes on.
    func close()

    /// Shows `body` what is to be sent, if anything; it returns how much of it was. With datagrams, it is called for each.
    /// `body` does not call the engine.
    func sendCiphertext(_ body: (UnsafeRawBufferPointer) -> Int)
    /// Bytes that wait to be sent.
    var unsentCount: Int { get }

    /// DTLS: how long until ``timeoutElapsed()`` is due. `nil` when nothing is waited for. Ask again after each call.
    var timeout: Duration? { get }
    /// DTLS: time has passed. Too early or too late does no harm.
    func timeoutElapsed() -> TLSProgress

    /// What was agreed on; `nil` before the handshake is done.
    var negotiation: TLSNegotiation? { get }
    /// Keying material for other protocols (RFC 5705, RFC 8446 §7.5); `nil` before the handshake is done.
    func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]?
    /// Is told each line for a file of keys (`SSLKEYLOGFILE`), if ``TLSSettings/logsKeys`` is set.
    var keyLog: ((String) -> Void)? { get set }
}

/// How far the handshake is.
package enum TLSProgress: Sendable {
    /// The peer's turn.
    case needsCiphertext
    /// The owner is to judge the peer and call ``TLSEngine/trustEvaluated(isTrusted:)``. Nothing happens before.
    case evaluateTrust(PeerTrust)
    /// The owner is to choose who we are and call ``TLSEngine/identityChosen(_:)``. Nothing happens before.
    case chooseIdentity(TLSChallenge)
    /// Plaintext can be read and written.
    case established
    /// It is over. The same answer follows every time.
    case failed(TLSFailure)
}

/// What a read brought.
package enum TLSReadResult: Hashable, Sendable {
    case bytes(Int)
    /// Nothing is there. Never said for an empty buffer while something is.
    case needsCiphertext
    /// The peer has closed: everything it sent was read.
    case ended
    case failed(TLSFailure)
}

/// A server's request for a certificate.
package struct TLSChallenge: Hashable, Sendable {
    /// Authorities that the server takes, as subjects in DER. Empty: any.
    package let authorities: [[UInt8]]
    /// Numbers of signature schemes that the server takes (RFC 8446 §4.2.3).
    package let signatureSchemes: [UInt16]
}

/// What client and server agreed on.
package struct TLSNegotiation: Sendable {
    package let version: TLSVersion
    /// The number of the cipher suite in the registry.
    package let cipherSuite: UInt16
    /// The number of the group in the registry. `nil` without a key exchange of that kind.
    package let group: UInt16?
    package let applicationProtocol: String?
    /// The name that the client asked for.
    package let serverName: String?
    package let isResumed: Bool
    package let isEarlyDataAccepted: Bool
    /// The peer's own first. Of a resumed session, those that were shown when it was made.
    package let peerCertificates: [Certificate]
    /// The statement of status that the server sent, in DER.
    package let stapledResponse: [UInt8]?
    /// `nil` over a stream.
    package let datagrams: TLSDatagramLimits?
}

/// What fits the datagrams of a DTLS connection.
package struct TLSDatagramLimits: Hashable, Sendable {
    /// Bytes of the longest message.
    package let longestMessage: Int
    /// Bytes that a record adds to a message, at most.
    package let overhead: Int
}
