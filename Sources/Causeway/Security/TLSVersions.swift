/// A version of TLS or DTLS, identified by the number on the wire.
///
/// Counterpart: macOS 10.15, iOS 13.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public enum tls_protocol_version_t: UInt16, Sendable {
    /// TLS 1.0 (RFC 2246). RFC 8996 §4 prohibits its use.
    case TLSv10 = 0x0301
    /// TLS 1.1 (RFC 4346). RFC 8996 §5 prohibits its use.
    case TLSv11 = 0x0302
    /// TLS 1.2 (RFC 5246).
    case TLSv12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case TLSv13 = 0x0304
    /// DTLS 1.0 (RFC 4347). RFC 8996 §6 prohibits its use.
    case DTLSv10 = 0xfeff
    /// DTLS 1.2 (RFC 6347).
    case DTLSv12 = 0xfefd
}

/// A version in the deprecated numbering of Secure Transport.
public enum SSLProtocol: Int32, Sendable {
    /// No version.
    case sslProtocolUnknown = 0
    /// SSL 2.0. Not supported.
    case sslProtocol2 = 1
    /// SSL 3.0. Not supported.
    case sslProtocol3 = 2
    /// TLS 1.0 (RFC 2246).
    case tlsProtocol1 = 4
    /// TLS 1.1 (RFC 4346).
    case tlsProtocol11 = 7
    /// TLS 1.2 (RFC 5246).
    case tlsProtocol12 = 8
    /// DTLS 1.0 (RFC 4347).
    case dtlsProtocol1 = 9
    /// TLS 1.3 (RFC 8446).
    case tlsProtocol13 = 10
    /// DTLS 1.2 (RFC 6347).
    case dtlsProtocol12 = 11
    /// The highest supported version of TLS: TLS 1.3.
    case tlsProtocolMaxSupported = 999
}

extension SSLProtocol {
    /// The version as a `tls_protocol_version_t`. `nil` for obsolete versions and for "unknown".
    package var version: tls_protocol_version_t? {
        switch self {
        case .sslProtocolUnknown, .sslProtocol2, .sslProtocol3: nil
        case .tlsProtocol1: .TLSv10
        case .tlsProtocol11: .TLSv11
        case .tlsProtocol12: .TLSv12
        case .tlsProtocol13, .tlsProtocolMaxSupported: .TLSv13
        case .dtlsProtocol1: .DTLSv10
        case .dtlsProtocol12: .DTLSv12
        }
    }

    package init(_ version: tls_protocol_version_t) {
        self =
            switch version {
            case .TLSv10: .tlsProtocol1
            case .TLSv11: .tlsProtocol11
            case .TLSv12: .tlsProtocol12
            case .TLSv13: .tlsProtocol13
            case .DTLSv10: .dtlsProtocol1
            case .DTLSv12: .dtlsProtocol12
            }
    }
}
