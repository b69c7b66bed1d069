public import Causeway
public import Foundation

/// A credential for authentication: a user name and password, a client certificate, or the decision to trust a server.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// How long a credential is kept.
    public enum Persistence: UInt, Sendable {
        /// The credential is not stored.
        case none = 0
        /// The credential is stored until the process ends.
        case forSession = 1
        /// The credential is stored on disk.
        case permanent = 2
        /// The credential is stored on disk and synchronized between devices. On Linux it behaves like ``permanent``.
        ///
        /// Counterpart: macOS 10.8, iOS 6.
        case synchronizable = 3
    }

    /// What a credential contains.
    private enum Content: Hashable {
        case password(user: String, password: String)
        case identity(SecIdentity, certificates: [SecCertificate])
        case trust(SecTrust)
        case none
    }

    private struct Archive: Codable {
        var user: String
        var password: String
        var persistence: UInt
    }

    private let content: Content
    private let kept: Persistence

    /// Creates a credential without content, for subclasses with an initializer of their own.
    public override init() {
        (content, kept) = (.none, .none)
        super.init()
    }

    /// Creates a credential with a user name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        content = .password(user: user, password: password)
        kept = persistence
        super.init()
    }

    /// Creates a credential with a client certificate.
    ///
    /// - Parameters:
    ///   - identity: The certificate with its private key.
    ///   - certificates: Intermediate certificates to send with the client certificate. Objects that are not a `SecCertificate` are
    ///     ignored.
    ///   - persistence: How long the credential is kept.
    public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
        content = .identity(identity, certificates: (certificates ?? []).compactMap { $0 as? SecCertificate })
        kept = persistence
        super.init()
    }

    /// Creates a credential that accepts a server's certificate chain even if its evaluation failed.
    public init(trust: SecTrust) {
        content = .trust(trust)
        kept = .none
        super.init()
    }

    /// Decodes a credential. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let archive = coder.decodePropertyList(Archive.self),
            let persistence = Persistence(rawValue: archive.persistence)
        else { return nil }
        content = .password(user: archive.user, password: archive.password)
        kept = persistence
        super.init()
    }

    /// Encodes the user name and password. Certificates are not encoded.
    open func encode(with coder: NSCoder) {
        guard case .password(let user, let password) = content else { return }
        coder.encodePropertyList(Archive(user: user, password: password, persistence: persistence.rawValue))
    }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns this object. No copy is made because the object is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// How long the credential is kept.
    open var persistence: Persistence { kept }

    /// The user name.
    open var user: String? {
        if case .password(let user, _) = content { user } else { nil }
    }

    /// The password.
    open var password: String? {
        if case .password(_, let password) = content { password } else { nil }
    }

    /// Whether the credential has a password.
    open var hasPassword: Bool { password != nil }

    /// The client certificate and its key.
    open var identity: SecIdentity? {
        if case .identity(let identity, _) = content { identity } else { nil }
    }

    /// The intermediate certificates.
    open var certificates: [Any] {
        if case .identity(_, let certificates) = content { certificates } else { [] }
    }

    /// The certificate chain that the program accepts.
    var trust: SecTrust? {
        if case .trust(let trust) = content { trust } else { nil }
    }

    /// Returns whether both credentials have equal content and persistence.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? URLCredential else { return false }
        return other === self || other.content == content && other.persistence == persistence
    }

    /// The hash value of the content.
    open override var hash: Int { content.hashValue }
}
