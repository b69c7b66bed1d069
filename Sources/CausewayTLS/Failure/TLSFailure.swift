package import CausewayTypes

/// Why a connection has no TLS, or has it no more.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// OpenSSL is not installed, or is another version.
        case libraryMissing
        /// The settings contradict themselves or name what the library does not have.
        case badConfiguration
        /// A certificate, key or archive cannot be read.
        case badCertificate
        /// Our own judgement of the peer's certificates: which one and which rule.
        case untrusted(TrustFailure)
        /// The program's own judgement of the peer.
        case refused
        /// The peer presented no certificate and had to.
        case certificateRequired
        /// The peer gave up and said why (RFC 8446 §6.2).
        case alert(UInt8)
        /// There is no version in common.
        case version
        /// There is nothing else in common.
        case negotiation
        /// There is no application protocol in common (RFC 7301 §3.2).
        case applicationProtocol
        /// A record was forged or damaged.
        case badRecord
        /// What the peer sent breaks the protocol.
        case protocolViolation
        /// The transport ended before the handshake did.
        case endedInHandshake
        /// The transport ended without the peer's closure (RFC 8446 §6.1): what came may have been cut off.
        case truncated
        /// The peer did not answer.
        case timedOut
        /// A message is too long for one datagram.
        case messageTooLong
        /// The connection was closed on this side.
        case closed
        /// The library failed, for example for want of memory.
        case library
    }

    package let code: Code
    /// What happened, for a person.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package init(_ failure: TrustFailure) {
        self.init(.untrusted(failure), failure.description)
    }

    /// The number in Secure Transport's numbering.
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

    /// The same failure as the layers above pass it around.
    package var failure: Failure { Failure(.tls, status) }

    package var description: String { "\(message) (\(status))" }
}
