package import CausewayTypes

/// The reason why TLS could not be established or was terminated.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// OpenSSL is not installed or has another version.
        case libraryMissing
        /// The settings are contradictory, or OpenSSL does not support them.
        case badConfiguration
        /// A certificate, key or archive is malformed.
        case badCertificate
        /// Chain validation rejected the peer's certificates. The value names the certificate and the rule.
        case untrusted(TrustFailure)
        /// The program rejected the peer's certificates.
        case refused
        /// The peer sent no certificate although one was required.
        case certificateRequired
        /// The peer sent a fatal alert (RFC 8446 §6.2).
        case alert(UInt8)
        /// The peers have no protocol version in common.
        case version
        /// The peers have no algorithm or other parameter in common.
        case negotiation
        /// The peers have no application protocol in common (RFC 7301 §3.2).
        case applicationProtocol
        /// A record failed authentication: forged or damaged.
        case badRecord
        /// The peer violated the protocol.
        case protocolViolation
        /// The transport ended during the handshake.
        case endedInHandshake
        /// The transport ended without a close_notify alert (RFC 8446 §6.1): the received content may be truncated.
        case truncated
        /// The peer did not answer in time.
        case timedOut
        /// A message does not fit in one datagram.
        case messageTooLong
        /// The connection was closed locally.
        case closed
        /// OpenSSL failed, for example because memory allocation failed.
        case library
    }

    package let code: Code
    /// A human-readable description.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package init(_ failure: TrustFailure) {
        self.init(.untrusted(failure), failure.description)
    }

    /// The Secure Transport error number.
    package var status: OSStatus {
        switch code {
        case .libraryMissing: errSSLModuleAttach
        case .badConfiguration: errSSLBadConfiguration
        case .badCertificate, .refused: errSSLBadCert
        case .untrusted(let failure): failure.status
        case .certificateRequired: errSSLCertificateRequired
        case .alert(let number): Self.status(ofAlert: number)
        case .version: errSSLPeerProtocolVersion
        case .negotiation, .applicationProtocol: errSSLNegotiation
        case .badRecord: errSSLBadRecordMac
        case .protocolViolation: errSSLProtocol
        case .endedInHandshake: errSSLClosedAbort
        case .truncated: errSSLClosedNoNotify
        case .timedOut: errSSLNetworkTimeout
        case .messageTooLong: errSSLBufferOverflow
        case .closed: errSSLClosedGraceful
        case .library: errSSLInternal
        }
    }

    /// The failure as reported to higher layers.
    package var failure: Failure { Failure(.tls, status) }

    package var description: String { "\(message) (\(status))" }
}
