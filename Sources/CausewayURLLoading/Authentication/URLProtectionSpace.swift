public import Causeway
public import Foundation

/// The protocol value for HTTP servers.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol value for HTTPS servers.
public let NSURLProtectionSpaceHTTPS = "https"
/// The protocol value for FTP servers.
public let NSURLProtectionSpaceFTP = "ftp"
/// The proxy type for an HTTP proxy.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The proxy type for an HTTPS proxy.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The proxy type for an FTP proxy.
public let NSURLProtectionSpaceFTPProxy = "ftp"
/// The proxy type for a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The default authentication method for the protocol of a protection space.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// Basic authentication (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// Digest authentication (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// Authentication with an HTML form. No protocol uses it by default.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// NTLM authentication.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Negotiate authentication (RFC 4559).
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// Authentication with a client certificate. It applies to a whole connection, not to a single request.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// Validation of the server's certificate. Applies to a connection, not to a single request.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// A protection space: a server or proxy that requires authentication, or one realm of such a server or proxy.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The properties of a protection space, as one value that can be compared and encoded.
    private struct Values: Hashable, Codable {
        var host: String
        var port: Int
        var scheme: String?
        var proxyType: String?
        var realm: String?
        var method: String
        var distinguishedNames: [Data]?
    }

    private static let methods: Set = [
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
        NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
        NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
    ]

    private let values: Values
    private let trust: SecTrust?

    /// Creates a protection space without a host, for subclasses with an initializer of their own.
    public override init() {
        values = Values(host: "", port: 0, method: NSURLAuthenticationMethodDefault)
        trust = nil
        super.init()
    }

    /// Creates a protection space for a server.
    ///
    /// - Parameters:
    ///   - host: The host name.
    ///   - port: The port.
    ///   - protocol: A scheme, such as ``NSURLProtectionSpaceHTTPS``.
    ///   - realm: The realm; `nil` if there is none.
    ///   - authenticationMethod: An authentication method. An unknown string means ``NSURLAuthenticationMethodDefault``.
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        values = Values(
            host: host, port: port, scheme: `protocol`, realm: realm, method: Self.known(authenticationMethod))
        trust = nil
        super.init()
    }

    /// Creates a protection space for a proxy.
    ///
    /// - Parameters:
    ///   - host: The host name.
    ///   - port: The port.
    ///   - type: A proxy type, such as ``NSURLProtectionSpaceHTTPProxy``.
    ///   - realm: The realm; `nil` if there is none.
    ///   - authenticationMethod: An authentication method. An unknown string means ``NSURLAuthenticationMethodDefault``.
    public init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
        values = Values(
            host: host, port: port, proxyType: type, realm: realm, method: Self.known(authenticationMethod))
        trust = nil
        super.init()
    }

    /// Creates a protection space for a TLS connection, to validate the server or to choose a client certificate.
    init(host: String, port: Int, trust: SecTrust?, distinguishedNames: [Data]?) {
        let method =
            trust == nil ? NSURLAuthenticationMethodClientCertificate : NSURLAuthenticationMethodServerTrust
        values = Values(
            host: host, port: port, scheme: NSURLProtectionSpaceHTTPS, method: method,
            distinguishedNames: distinguishedNames)
        self.trust = trust
        super.init()
    }

    /// Decodes a protection space. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodePropertyList(Values.self) else { return nil }
        self.values = values
        trust = nil
        super.init()
    }

    /// Encodes the protection space. The server's certificates are not encoded.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(values) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns this object. No copy is made because the object is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    private static func known(_ method: String?) -> String {
        method.flatMap { methods.contains($0) ? $0 : nil } ?? NSURLAuthenticationMethodDefault
    }

    /// The authentication realm; `nil` if the authentication method has no realm.
    open var realm: String? { values.realm }

    /// Whether the credential is protected in transit, by the authentication method or by TLS.
    open var receivesCredentialSecurely: Bool {
        switch values.method {
        case NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust:
            true
        default: values.scheme == NSURLProtectionSpaceHTTPS || values.proxyType == NSURLProtectionSpaceHTTPSProxy
        }
    }

    /// Returns whether the protection space belongs to a proxy.
    open override func isProxy() -> Bool { values.proxyType != nil }

    /// The host name or IP address of the server or proxy.
    open var host: String { values.host }

    /// The port of the server or proxy.
    open var port: Int { values.port }

    /// The proxy type; `nil` for a server.
    open var proxyType: String? { values.proxyType }

    /// The scheme; `nil` for a proxy.
    open var `protocol`: String? { values.scheme }

    /// The authentication method, such as ``NSURLAuthenticationMethodHTTPBasic``.
    open var authenticationMethod: String { values.method }

    /// The DER-encoded distinguished names of the issuers that the server accepts for client certificates.
    ///
    /// Counterpart: macOS 10.6, iOS 3.
    open var distinguishedNames: [Data]? { values.distinguishedNames }

    /// The server's certificates, as a trust object.
    ///
    /// Counterpart: macOS 10.6, iOS 3.
    open var serverTrust: SecTrust? { trust }

    /// Returns whether all values are equal.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? URLProtectionSpace else { return false }
        return other === self || other.values == values && other.trust == trust
    }

    /// The hash value of all values.
    open override var hash: Int { values.hashValue }

    /// A textual description with the class, the object's address and the values.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        return "<\(type(of: self)): 0x\(address)>: Host:\(host), Server:\(self.protocol ?? "(null)"), "
            + "Auth-Scheme:\(authenticationMethod), Realm:\(realm ?? "(null)"), Port:\(port), "
            + "Proxy:\(isProxy() ? "YES" : "NO"), Proxy-Type:\(proxyType ?? "(null)")"
    }
}
