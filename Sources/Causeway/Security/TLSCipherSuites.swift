/// A TLS cipher suite, by its registered number.
///
/// The names are IANA's without `TLS_`. Every number is allowed, so that programs can use suites without a name here, such as those with
/// pre-shared keys: `tls_ciphersuite_t(rawValue: TLS_PSK_WITH_AES_128_GCM_SHA256)`.
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
    public static let RSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0x000a)
    public static let RSA_WITH_AES_128_CBC_SHA = Self(number: 0x002f)
    public static let RSA_WITH_AES_256_CBC_SHA = Self(number: 0x0035)
    public static let RSA_WITH_AES_128_GCM_SHA256 = Self(number: 0x009c)
    public static let RSA_WITH_AES_256_GCM_SHA384 = Self(number: 0x009d)
    public static let RSA_WITH_AES_128_CBC_SHA256 = Self(number: 0x003c)
    public static let RSA_WITH_AES_256_CBC_SHA256 = Self(number: 0x003d)
    public static let ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0xc008)
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA = Self(number: 0xc009)
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA = Self(number: 0xc00a)
    public static let ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = Self(number: 0xc012)
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA = Self(number: 0xc013)
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA = Self(number: 0xc014)
    public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = Self(number: 0xc023)
    public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = Self(number: 0xc024)
    public static let ECDHE_RSA_WITH_AES_128_CBC_SHA256 = Self(number: 0xc027)
    public static let ECDHE_RSA_WITH_AES_256_CBC_SHA384 = Self(number: 0xc028)
    public static let ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = Self(number: 0xc02b)
    public static let ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = Self(number: 0xc02c)
    public static let ECDHE_RSA_WITH_AES_128_GCM_SHA256 = Self(number: 0xc02f)
    public static let ECDHE_RSA_WITH_AES_256_GCM_SHA384 = Self(number: 0xc030)
    public static let ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = Self(number: 0xcca8)
    public static let ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = Self(number: 0xcca9)
    public static let AES_128_GCM_SHA256 = Self(number: 0x1301)
    public static let AES_256_GCM_SHA384 = Self(number: 0x1302)
    public static let CHACHA20_POLY1305_SHA256 = Self(number: 0x1303)
}

/// A named group of cipher suites.
///
/// Counterpart: macOS 10.15, iOS 13.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public enum tls_ciphersuite_group_t: UInt16, Sendable {
    /// The TLS engine's default suites.
    case `default`
    /// Also suites for old peers.
    case compatibility
    /// Also suites for very old peers.
    case legacy
    /// The suites that Apple's App Transport Security allows.
    case ats
    /// The suites of `ats`, and also suites without forward secrecy.
    case ats_compatibility
}

/// A cipher suite number in the deprecated form.
public typealias SSLCipherSuite = UInt16

/// A named group of cipher suites in the deprecated form.
public enum SSLCiphersuiteGroup: Int32, Sendable {
    case `default`
    case compatibility
    case legacy
    case ATS
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
