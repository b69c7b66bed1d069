internal import CausewayTLS

/// A signature algorithm of a key.
///
/// Counterpart: macOS 10.12, iOS 10.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    /// The name of the algorithm, such as `algid:sign:ECDSA:message-X962:SHA256`.
    public let rawValue: CFString

    /// Creates an algorithm from its name. Keys support only the algorithms that this type has constants for.
    public init(rawValue: CFString) {
        self.rawValue = rawValue
    }

    init(_ scheme: SignatureScheme) {
        rawValue = Self.name(scheme)
    }

    /// The TLS engine's signature scheme for this algorithm; `nil` for unknown names.
    var scheme: SignatureScheme? { Self.schemes[rawValue] }

    private static let schemes: [CFString: SignatureScheme] = {
        var all = [SignatureScheme(.none), SignatureScheme(.pkcs1), SignatureScheme(.ecdsa)]
        for padding in [SignatureScheme.Padding.pkcs1, .pss, .ecdsa] {
            for digest in SignatureDigest.allCases {
                all += [false, true].map { SignatureScheme(padding, digest, hashesInput: $0) }
            }
        }
        return Dictionary(uniqueKeysWithValues: all.map { (name($0), $0) })
    }()

    private static func name(_ scheme: SignatureScheme) -> CFString {
        let input = scheme.hashesInput ? "message" : "digest"
        let digest = scheme.digest.map { ":\($0.name)" } ?? ""
        return switch scheme.padding {
        case .none: "algid:sign:RSA:raw"
        case .pkcs1: "algid:sign:RSA:\(input)-PKCS1v15\(digest)"
        case .pss: "algid:sign:RSA:\(input)-PSS\(digest)\(digest):\(scheme.digest?.byteCount ?? 0)"
        case .ecdsa: "algid:sign:ECDSA:\(input)-X962\(digest)"
        }
    }
}

/// An operation with a key. Only signing and verifying are supported.
///
/// Counterpart: macOS 10.12, iOS 10.
public enum SecKeyOperationType: Int, Sendable {
    /// Signing with a private key.
    case sign = 0
    /// Verifying a signature with a public key.
    case verify = 1
    /// Encrypting with a public key. Not supported.
    case encrypt = 2
    /// Decrypting with a private key. Not supported.
    case decrypt = 3
    /// Agreeing on a secret. Not supported.
    case keyExchange = 4
}
