/// A TLS cipher suite, identified by the registered number.
///
/// The names are the IANA names without the prefix `TLS_`. Every number is allowed, so that programs can use suites that have no name here,
/// such as suites with pre-shared keys: `tls_ciphersuite_t(rawValue: TLS_PSK_WITH_AES_128_GCM_SHA256)`.
///
/// Counterpart: macOS 10.15, iOS 13.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public struct tls_ciphersuite_t: RawRepresentable, Hashable, Sendable {
    /// The registered number.
    public let rawValue: UInt16

    /// Creates a suite from any number. Never returns `nil`.
    public init?(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    init(number: UInt16) {
        rawValue = number
    }
}

extension tls_ciphersuite_t {
    /// RSA key exchange, 3DES-CBC, SHA-1 (RFC 5246).
    public static let RSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0x000a)
    /// RSA key exchange, AES-128-CBC, SHA-1 (RFC 5246).
    public static let RSA_WITH_AES_128_CBC_SHA = Self(number: 0x002f)
    /// RSA key exchange, AES-256-CBC, SHA-1 (RFC 5246).
    public static let RSA_WITH_AES_256_CBC_SHA = Self(number: 0x0035)
    /// RSA key exchange, AES-128-GCM, SHA-256 (RFC 5288).
    public static let RSA_WITH_AES_128_GCM_SHA256 = Self(number: 0x009c)
    /// RSA key exchange, AES-256-GCM, SHA-384 (RFC 5288).
    public static let RSA_WITH_AES_256_GCM_SHA384 = Self(number: 0x009d)
    /// RSA key exchange, AES-128-CBC, SHA-256 (RFC 5246).
    public static let RSA_WITH_AES_128_CBC_SHA256 = Self(number: 0x003c)
    /// RSA key exchange, AES-256-CBC, SHA-256 (RFC 5246).
    public static let RSA_WITH_AES_256_CBC_SHA256 = Self(number: 0x003d)
    /// ECDHE key exchange with ECDSA signatures, 3DES-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0xc008)
    /// ECDHE key exchange with ECDSA signatures, AES-128-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA = Self(number: 0xc009)
    /// ECDHE key exchange with ECDSA signatures, AES-256-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA = Self(number: 0xc00a)
    /// ECDHE key exchange with RSA signatures, 3DES-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0xc012)
    /// ECDHE key exchange with RSA signatures, AES-128-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA = Self(number: 0xc013)
    /// ECDHE key exchange with RSA signatures, AES-256-CBC, SHA-1 (RFC 8422).
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA = Self(number: 0xc014)
    /// ECDHE key exchange with ECDSA signatures, AES-128-CBC, SHA-256 (RFC 5289).
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = Self(number: 0xc023)
    /// ECDHE key exchange with ECDSA signatures, AES-256-CBC, SHA-384 (RFC 5289).
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = Self(number: 0xc024)
    /// ECDHE key exchange with RSA signatures, AES-128-CBC, SHA-256 (RFC 5289).
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA256 = Self(number: 0xc027)
    /// ECDHE key exchange with RSA signatures, AES-256-CBC, SHA-384 (RFC 5289).
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA384 = Self(number: 0xc028)
    /// ECDHE key exchange with ECDSA signatures, AES-128-GCM, SHA-256 (RFC 5289).
    public static let ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = Self(number: 0xc02b)
    /// ECDHE key exchange with ECDSA signatures, AES-256-GCM, SHA-384 (RFC 5289).
    public static let ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = Self(number: 0xc02c)
    /// ECDHE key exchange with RSA signatures, AES-128-GCM, SHA-256 (RFC 5289).
    public static let ECDHE_RSA_WITH_AES_128_GCM_SHA256 = Self(number: 0xc02f)
    /// ECDHE key exchange with RSA signatures, AES-256-GCM, SHA-384 (RFC 5289).
    public static let ECDHE_RSA_WITH_AES_256_GCM_SHA384 = Self(number: 0xc030)
    /// ECDHE key exchange with RSA signatures, ChaCha20-Poly1305, SHA-256 (RFC 7905).
    public static let ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = Self(number: 0xcca8)
    /// ECDHE key exchange with ECDSA signatures, ChaCha20-Poly1305, SHA-256 (RFC 7905).
    public static let ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = Self(number: 0xcca9)
    /// AES-128-GCM, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
    public static let AES_128_GCM_SHA256 = Self(number: 0x1301)
    /// AES-256-GCM, SHA-384 (RFC 8446 §B.4). TLS 1.3 only.
    public static let AES_256_GCM_SHA384 = Self(number: 0x1302)
    /// ChaCha20-Poly1305, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
    public static let CHACHA20_POLY1305_SHA256 = Self(number: 0x1303)
}

/// A named group of cipher suites.
///
/// Counterpart: macOS 10.15, iOS 13.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public enum tls_ciphersuite_group_t: UInt16, Sendable {
    /// The TLS engine's default suites.
    case `default`
    /// The default suites, and suites in CBC mode for old peers.
    case compatibility
    /// The suites of `compatibility`, and suites for very old peers. These also include suites with 3DES, and suites
    /// without forward secrecy.
    case legacy
    /// The suites that Apple's App Transport Security allows.
    case ats
    /// The suites of `ats`, and also suites without forward secrecy.
    case ats_compatibility
}

/// The deprecated type for the number of a cipher suite.
public typealias SSLCipherSuite = UInt16

/// The deprecated type for a named group of cipher suites.
public enum SSLCiphersuiteGroup: Int32, Sendable {
    /// The deprecated form of ``tls_ciphersuite_group_t/default``.
    case `default`
    /// The deprecated form of ``tls_ciphersuite_group_t/compatibility``.
    case compatibility
    /// The deprecated form of ``tls_ciphersuite_group_t/legacy``.
    case legacy
    /// The deprecated form of ``tls_ciphersuite_group_t/ats``.
    case ATS
    /// The deprecated form of ``tls_ciphersuite_group_t/ats_compatibility``.
    case atsCompatibility
}

extension SSLCiphersuiteGroup {
    var group: tls_ciphersuite_group_t {
        switch self {
        case .default: .default
        case .compatibility: .compatibility
        case .legacy: .legacy
        case .ATS: .ats
        case .atsCompatibility: .ats_compatibility
        }
    }
}
