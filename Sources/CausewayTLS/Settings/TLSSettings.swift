/// How to use TLS. Connections with equal settings share what is expensive: see ``TLSContext``.
package struct TLSSettings: Hashable, Sendable {
    package enum Side: Hashable, Sendable { case client, server }

    package enum PeerAuthentication: Hashable, Sendable {
        /// The peer is not authenticated. On a client this gives up all protection against impostors.
        case none
        /// A server asks for a certificate and goes on without one. A client treats it as ``required``.
        case optional
        case required
    }

    /// Who judges the peer's certificates.
    package enum Verifier: Hashable, Sendable {
        /// ``PeerTrust/evaluate()``, at once.
        case rules
        /// The engine pauses and asks its owner. The number stands for who is asked: sessions are not shared between judges.
        case owner(UInt64)
    }

    package struct PreSharedKey: Hashable, Sendable {
        package var key: [UInt8]
        package var identity: [UInt8]

        /// `key` has 1 to 256 bytes, `identity` at most 128.
        ///
        /// The identity ends before its first zero byte: libraries of TLS pass it as a C string, Apple's included. Programs that
        /// give UTF-16, or the bytes of a `Data` value itself, name their keys alike on both sides only so.
        package init(key: [UInt8], identity: [UInt8]) {
            self.key = key
            self.identity = Array(identity.prefix { $0 != 0 })
        }
    }

    package var side: Side
    /// DTLS (RFC 6347): records are datagrams.
    package var usesDatagrams = false
    /// `nil` for the default: TLS 1.2, DTLS 1.2.
    package var minimumVersion: TLSVersion?
    /// `nil` for the highest that there is.
    package var maximumVersion: TLSVersion?
    /// Numbers from the registry of cipher suites, in the order of preference. Empty for the default: those with forward secrecy
    /// and authenticated encryption; with a pre-shared key also those that use it.
    package var cipherSuites: [UInt16] = []
    /// Numbers from the registry of supported groups, in the order of preference. Empty for elliptic curves and their hybrids.
    package var groups: [UInt16] = []
    /// What ALPN offers, or accepts on a server, in the order of preference (RFC 7301).
    package var applicationProtocols: [String] = []
    package var identity: TLSIdentity?
    /// Statement of status that a server sends with its certificate, in DER.
    package var stapledResponse: [UInt8]?
    package var preSharedKeys: [PreSharedKey] = []
    /// A server's hint for which key to choose (RFC 4279 §5.2).
    package var preSharedKeyHint: [UInt8]?
    package var peerAuthentication: PeerAuthentication
    package var judge = Verifier.rules
    package var trust = TrustSettings()
    /// Whether a client's owner is asked for an identity when the server wants one.
    package var asksForIdentity = false
    package var isResumptionEnabled = true
    package var areTicketsEnabled = true
    package var isEarlyDataEnabled = false
    /// Whether a client asks for a stapled statement of status.
    package var requestsStatus = true
    /// Whether this repeats an attempt that failed with a higher version (RFC 7507).
    package var isFallbackAttempt = false
    /// Whether ``TLSEngine/keyLog`` is told the secrets.
    package var logsKeys = false
    /// DTLS: bytes of a datagram, and how long to wait before the first repetition.
    package var maximumDatagram = 1_400
    package var firstRetransmission: Duration = .seconds(1)

    /// Every default. A client authenticates its server, a server does not ask.
    package init(_ side: Side) {
        self.side = side
        peerAuthentication = side == .client ? .required : .none
    }
}
