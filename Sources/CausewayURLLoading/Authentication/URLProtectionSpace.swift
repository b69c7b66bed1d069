public import Causeway
public import Foundation

/// The scheme of HTTP servers.
public let NSURLProtectionSpaceHTTP = "http"
/// The scheme of HTTP servers with TLS.
public let NSURLProtectionSpaceHTTPS = "https"
/// The scheme of FTP servers.
public let NSURLProtectionSpaceFTP = "ftp"
/// A proxy for HTTP.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// A proxy for HTTP with TLS.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// A proxy for FTP.
public let NSURLProtectionSpaceFTPProxy = "ftp"
/// A SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The default method of the protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// Basic authentication (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// Digest authentication (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A form on a page. No protocol uses it by default.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// NTLM.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Negotiate (RFC 4559).
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
/// A client certificate. Applies to a connection.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The validation of a server's certificate. Applies to a connection.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// A server, or an area of a server, that asks for authentication.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses of programs answer for their own.
@preconcurrency open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The values of a space.
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

    /// Creates the space of a server.
    ///
    /// - Parameters:
    ///   - protocol: A scheme, such as ``NSURLProtectionSpaceHTTPS``.
    ///   - authenticationMethod: A method; any other text means ``NSURLAuthenticationMethodDefault``.
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        values = Values(
            host: host, port: port, scheme: `protocol`, realm: realm, method: Self.known(authenticationMethod))
        trust = nil
        super.init()
    }

    /// Creates the space of a proxy.
    ///
    /// - Parameters:
    ///   - type: A kind of proxy, such as ``NSURLProtectionSpaceHTTPProxy``.
    ///   - authenticationMethod: A method; any other text means ``NSURLAuthenticationMethodDefault``.
    public init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
        values = Values(
            host: host, port: port, proxyType: type, realm: realm, method: Self.known(authenticationMethod))
        trust = nil
        super.init()
    }

    /// Creates the space of a TLS connection: to validate the server, or to choose a client certificate.
    init(host: String, port: Int, trust: SecTrust?, distinguishedNames: [Data]?) {
        let method =
            trust == nil ? NSURLAuthenticationMethodClientCertificate : NSURLAuthenticationMethodServerTrust
        values = Values(
            host: host, port: port, scheme: NSURLProtectionSpaceHTTPS, method: method,
            distinguishedNames: distinguishedNames)
        self.trust = trust
        super.init()
    }

    /// Decodes a space. Returns `nil` for an archive that this module did not write.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodePropertyList(Values.self) else { return nil }
        self.values = values
        trust = nil
        super.init()
    }

    /// Encodes the space without the server's certificates.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(values) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object, because it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    private static func known(_ method: String?) -> String {
        method.flatMap { methods.contains($0) ? $0 : nil } ?? NSURLAuthenticationMethodDefault
    }

    /// The name of the area; `nil` if the method has none.
    open var realm: String? { values.realm }

    /// Whether the password does not cross the network in readable form.
    open var receivesCredentialSecurely: Bool {
        switch values.method {
        case NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust:
            true
        default: values.scheme == NSURLProtectionSpaceHTTPS || values.proxyType == NSURLProtectionSpaceHTTPSProxy
        }
    }

    /// Returns whether the space is that of a proxy.
    open override func isProxy() -> Bool { values.proxyType != nil }

    /// The name or address of the server or proxy.
    open var host: String { values.host }

    /// The port.
    open var port: Int { values.port }

    /// The kind of proxy; `nil` for a server.
    open var proxyType: String? { values.proxyType }

    /// The scheme; `nil` for a proxy.
    open var `protocol`: String? { values.scheme }

    /// The method, such as ``NSURLAuthenticationMethodHTTPBasic``.
    open var authenticationMethod: String { values.method }

    /// The issuers that the server accepts for client certificates, in DER. macOS 10.6, iOS 3.
    open var distinguishedNames: [Data]? { values.distinguishedNames }

    /// The certificates of the server. macOS 10.6, iOS 3.
    open var serverTrust: SecTrust? { trust }

    /// Compares all values.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? URLProtectionSpace else { return false }
        return other === self || other.values == values && other.trust == trust
    }

    /// The hash of the values.
    open override var hash: Int { values.hashValue }

    /// The class, its address and the values.
    open override var description: String {
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        return "<\(type(of: self)): 0x\(address)>: Host:\(host), Server:\(self.protocol ?? "(null)"), "
            + "Auth-Scheme:\(authenticationMethod), Realm:\(realm ?? "(null)"), Port:\(port), "
            + "Proxy:\(isProxy() ? "YES" : "NO"), Proxy-Type:\(proxyType ?? "(null)")"
    }
}
