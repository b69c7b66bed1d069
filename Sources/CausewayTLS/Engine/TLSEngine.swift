/// TLS for one connection, without sockets, threads or clocks: converts between ciphertext and plaintext.
///
/// The owner passes in received bytes (``ciphertextArrived(_:_:)``), continues the handshake (``handshake()`` until the result is
/// established, then ``read(into:)``), writes its content (``write(_:)``), and sends the resulting bytes (``sendCiphertext(_:)``).
/// The owner must send after every call, because a handshake, a close and a failure also produce bytes.
///
/// Not `Sendable`: use from one thread at a time.
package protocol TLSEngine: AnyObject {
    /// Gives the engine access to received bytes while `body` runs. `body` calls ``handshake()`` or ``read(into:)``.
    ///
    /// The engine copies and keeps the bytes that `body` did not consume. `body` must not pass in more bytes.
    ///
    /// With datagrams, `bytes` is one datagram. A caller that stops calling ``read(into:)`` must also stop passing in
    /// bytes: more than a megabyte of unread bytes makes the connection fail.
    func ciphertextArrived<R>(_ bytes: UnsafeRawBufferPointer, _ body: () -> R) -> R
    /// Reports that the transport has ended, after all received bytes were passed in. If the peer sent no close_notify
    /// before, reading then fails.
    func ciphertextEnded()

    /// Continues the handshake as far as possible.
    func handshake() -> TLSProgress
    /// Whether the next ``handshake()`` may decode and validate the peer's certificates. If so, do not call that method on an event loop,
    /// because it takes milliseconds.
    var mayEvaluatePeer: Bool { get }
    /// Whether the first call of ``handshake()`` sends nothing. It then waits for bytes from the peer.
    var waitsForPeer: Bool { get }
    /// Passes the result for ``TLSProgress/evaluateTrust(_:)`` to the engine. Then call ``handshake()`` to continue.
    func trustEvaluated(isTrusted: Bool)
    /// Passes the identity for ``TLSProgress/chooseIdentity(_:)`` to the engine. Then call ``handshake()`` to continue.
    func identityChosen(_ identity: TLSIdentity?)

    /// The number of bytes that may be sent before the handshake (RFC 8446 §2.3); 0 without a session that allows early
    /// data.
    var earlyDataLimit: Int { get }
    /// Sends a request before the handshake. Call this function before ``handshake()``.
    ///
    /// The request must be harmless if it arrives twice. If the peer rejects the early data, the engine sends the
    /// request again after the handshake, before all other content.
    ///
    /// - Returns: `false` if the request exceeds ``earlyDataLimit``; then nothing is sent.
    func writeEarly(_ plaintext: UnsafeRawBufferPointer) -> Bool

    /// Reads available plaintext into `buffer`. With datagrams, reads one message.
    ///
    /// Reading also processes tickets, the peer's close, and retransmitted handshake messages. So call this method each
    /// time ciphertext has arrived.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSReadResult
    /// Whether ``read(into:)`` may return plaintext or another event.
    ///
    /// After ``read(into:)`` has returned `needsCiphertext`, this value is `false` until more ciphertext arrives.
    var mayHavePlaintext: Bool { get }
    /// Encrypts plaintext.
    ///
    /// - Returns: The number of bytes accepted: 0 before the handshake is complete; fewer than passed in if 256 KiB are
    ///   waiting to be sent.
    /// - Throws: The failure that ended the connection; `errSSLBufferOverflow` for a message that does not fit in one datagram.
    func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSFailure) -> Int
    /// Ends writing with a close_notify alert (RFC 8446 §6.1). Reading continues.
    func close()

    /// Calls `body` with the encrypted bytes to send, if any. `body` returns how many bytes it sent, and must not call
    /// the engine. With datagrams, `body` is called once per datagram.
    func sendCiphertext(_ body: (UnsafeRawBufferPointer) -> Int)
    /// The number of ciphertext bytes to send.
    var unsentCount: Int { get }

    /// DTLS: time until ``timeoutElapsed()`` is due; `nil` without a pending retransmission. Read this value again
    /// after each call to the engine, and from time to time: it can follow the wall clock, which can be set.
    var timeout: Duration? { get }
    /// DTLS: retransmits if the timeout has passed. An early or late call is harmless.
    func timeoutElapsed() -> TLSProgress

    /// The negotiated parameters; `nil` before the handshake is complete.
    var negotiation: TLSNegotiation? { get }
    /// Exports keying material for other protocols (RFC 5705, RFC 8446 §7.5); `nil` before the handshake is complete.
    func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]?
    /// Receives each line for a key log file (`SSLKEYLOGFILE`) if ``TLSSettings/logsKeys`` is set.
    var keyLog: ((String) -> Void)? { get set }
}

/// The handshake state.
package enum TLSProgress: Sendable {
    /// The handshake waits for bytes from the peer.
    case needsCiphertext
    /// The owner must validate the peer's certificates, and then call ``TLSEngine/trustEvaluated(isTrusted:)``. Until
    /// then, the handshake pauses.
    case evaluateTrust(PeerTrust)
    /// The owner must choose a local identity and call ``TLSEngine/identityChosen(_:)`` (RFC 8446 §4.4.2.3). The
    /// handshake pauses until then.
    case chooseIdentity(TLSChallenge)
    /// The handshake is complete: plaintext can be read and written.
    case established
    /// The handshake failed. Every later call returns the same failure.
    case failed(TLSFailure)
}

/// A read result.
package enum TLSReadResult: Hashable, Sendable {
    case bytes(Int)
    /// No data is available. A read into an empty buffer returns `bytes(0)` instead.
    case needsCiphertext
    /// The peer has closed the connection, and all content was read.
    case ended
    case failed(TLSFailure)
}

/// A server's request for a client certificate.
package struct TLSChallenge: Hashable, Sendable {
    /// The subjects, in DER, of accepted authorities. If empty, the server accepts any authority.
    package let authorities: [[UInt8]]
    /// The accepted signature scheme numbers (RFC 8446 §4.2.3).
    package let signatureSchemes: [UInt16]
}

/// The negotiated connection parameters.
package struct TLSNegotiation: Sendable {
    package let version: TLSVersion
    /// The registered cipher suite number.
    package let cipherSuite: UInt16
    /// The registered key exchange group number; `nil` if none was used.
    package let group: UInt16?
    package let applicationProtocol: String?
    /// The server name requested by the client.
    package let serverName: String?
    package let isResumed: Bool
    package let isEarlyDataAccepted: Bool
    /// The peer's certificates, its own first. For a resumed session, they come from the original handshake.
    package let peerCertificates: [Certificate]
    /// The server's stapled OCSP response, in DER (RFC 8446 §4.4.2.1).
    package let stapledResponse: [UInt8]?
    /// For DTLS, the maximum message size and the overhead of a record. `nil` for TLS over a stream.
    package let datagrams: TLSDatagramLimits?
}

/// A DTLS connection's datagram limits.
package struct TLSDatagramLimits: Hashable, Sendable {
    /// The maximum message size in bytes.
    package let longestMessage: Int
    /// The maximum number of bytes that a record adds to a message.
    package let overhead: Int
}
