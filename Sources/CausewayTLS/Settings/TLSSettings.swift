/// A connection's TLS settings. Connections with equal settings share a ``TLSContext``.
package struct TLSSettings: Hashable, Sendable {
    package enum Side: Hashable, Sendable { case client, server }

    package enum PeerAuthentication: Hashable, Sendable {
        /// The peer is not authenticated. On a client this removes all protection against impersonation.
        case none
        /// A server requests a certificate but does not require it. On a client this has the same effect as ``required``.
        case optional
        case required
    }

    /// The validator of the peer's certificates.
    package enum Verifier: Hashable, Sendable {
        /// The engine validates the certificates with ``PeerTrust/evaluate()`` during the handshake. The handshake does
        /// not pause.
        case rules
        /// The TLS engine pauses until its owner has validated the certificates. The number identifies the owner.
        /// Connections with different numbers do not share TLS sessions.
        case owner(UInt64)
    }

    package struct PreSharedKey: Hashable, Sendable {
        package var key: [UInt8]
        package var identity: [UInt8]

        /// Creates a pre-shared key. `key` has 1 to 256 bytes, `identity` at most 128.
        ///
        /// The identity ends at its first zero byte, because TLS libraries pass it as a C string, including Apple's.
        /// Text in UTF-16 and the raw bytes of a `Data` value can contain zero bytes. Without the cut, the two sides
        /// would then use different identities.
        package init(key: [UInt8], identity: [UInt8]) {
            self.key = key
            self.identity = Array(identity.prefix { $0 != 0 })
        }
    }

    package var side: Side
    /// Whether to use DTLS (RFC 6347) instead of TLS.
    package var usesDatagrams = false
    /// The minimum version; `nil` for the default: TLS 1.2 or DTLS 1.2, or ``maximumVersion`` if that is lower.
    package var minimumVersion: TLSVersion?
    /// The maximum version; `nil` for the highest version that OpenSSL supports.
    package var maximumVersion: TLSVersion?
    /// Cipher suite numbers in order of preference.
    ///
    /// If empty, suites with forward secrecy and authenticated encryption are used. With a pre-shared key, the PSK
    /// suites are used as well.
    package var cipherSuites: [UInt16] = []
    /// Group numbers in order of preference. If empty, elliptic curves and their post-quantum hybrids are used.
    package var groups: [UInt16] = []
    /// ALPN protocols to offer (client) or accept (server), in order of preference (RFC 7301).
    package var applicationProtocols: [String] = []
    package var identity: TLSIdentity?
    /// An OCSP response in DER, which a server staples to its certificate.
    package var stapledResponse: [UInt8]?
    package var preSharedKeys: [PreSharedKey] = []
    /// The server's PSK identity hint (RFC 4279 §5.2).
    package var preSharedKeyHint: [UInt8]?
    package var peerAuthentication: PeerAuthentication
    package var verifier = Verifier.rules
    package var trust = TrustSettings()
    /// Whether a client asks its owner for an identity when the server requests a certificate.
    package var asksForIdentity = false
    package var isResumptionEnabled = true
    package var areTicketsEnabled = true
    package var isEarlyDataEnabled = false
    /// Whether a client requests a stapled OCSP response.
    package var requestsStatus = true
    /// Whether this connection is a retry after a failed attempt with a higher version (RFC 7507).
    package var isFallbackAttempt = false
    /// Whether to report the connection's TLS secrets to ``TLSEngine/keyLog``, for decrypting captured traffic.
    package var logsKeys = false
    /// DTLS: maximum datagram size in bytes.
    package var maximumDatagram = 1_400
    /// DTLS: first retransmission timeout, at most a minute.
    package var firstRetransmission: Duration = .seconds(1)

    /// Creates default settings. A client authenticates its server; a server does not request a client certificate.
    package init(_ side: Side) {
        self.side = side
        peerAuthentication = side == .client ? .required : .none
    }
}
