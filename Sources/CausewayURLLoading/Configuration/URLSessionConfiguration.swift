public import Causeway
public import Foundation

/// The settings of a session. A session copies its configuration when it is created; later changes have no effect on
/// the session.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: sessions use an immutable copy. `ConfigurationTests` tests this: it changes a configuration after the session
// was created. As on Apple platforms, programs must change an object on one thread at a time.
@preconcurrency open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    var settings: SessionSettings

    /// Creates a configuration with default settings. Use ``default``, ``ephemeral`` or ``background(withIdentifier:)`` instead.
    @available(*, deprecated, message: "Use URLSessionConfiguration.default or another class property.")
    public override init() {
        settings = .shared
        super.init()
    }

    init(_ settings: SessionSettings) {
        self.settings = settings
        super.init()
    }

    /// A new configuration that uses the shared cache, cookie storage and credential storage.
    open class var `default`: URLSessionConfiguration { URLSessionConfiguration(.shared) }

    /// A new configuration with a private cache, cookie storage and credential storage, all in memory.
    open class var ephemeral: URLSessionConfiguration {
        URLSessionConfiguration(.inMemory)
    }

    /// Returns a new configuration for transfers that outlive the program. It has no cache and always waits for connectivity.
    ///
    /// Downloads, and uploads of files, are stored in private files and retried until `timeoutIntervalForResource`
    /// expires. When the program runs again, also after a crash, it should soon create a session with the same
    /// identifier. The tasks are then in ``URLSession/getAllTasks(completionHandler:)``. The delegate receives the
    /// results of finished tasks, followed by
    /// ``URLSessionDelegate/urlSessionDidFinishEvents(forBackgroundURLSession:)``.
    ///
    /// While the program is not running, the command `nw transfers` can continue the tasks. A session with tasks starts
    /// the command only if ``backgroundTransferCommand`` or the environment variable `CAUSEWAY_TRANSFERS_COMMAND` names
    /// it.
    ///
    /// A task must have a delegate instead of a completion handler. If another session uses the identifier, tasks fail
    /// with `URLError.backgroundSessionInUseByAnotherProcess`.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        var settings = SessionSettings.shared
        settings.stores.cache = nil
        settings.background.identifier = identifier
        settings.access.waitsForConnectivity = true
        return URLSessionConfiguration(settings)
    }

    /// Returns a configuration for background transfers.
    @available(*, deprecated, renamed: "background(withIdentifier:)")
    open class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration {
        background(withIdentifier: identifier)
    }

    /// Returns a new configuration with the same settings.
    open func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(settings) }

    /// The identifier of a background session; otherwise `nil`.
    open var identifier: String? { settings.background.identifier }

    /// The minimum TLS version.
    @available(*, deprecated, renamed: "tlsMinimumSupportedProtocolVersion")
    open var tlsMinimumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(settings.transport.minimumTLSVersion) }
        set { settings.transport.minimumTLSVersion = newValue.version ?? .TLSv12 }
    }

    /// The maximum TLS version.
    @available(*, deprecated, renamed: "tlsMaximumSupportedProtocolVersion")
    open var tlsMaximumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(settings.transport.maximumTLSVersion) }
        set { settings.transport.maximumTLSVersion = newValue.version ?? .TLSv13 }
    }

    /// How requests use the cache. The default is ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    open var requestCachePolicy: NSURLRequest.CachePolicy {
        get { settings.cachePolicy }
        set { settings.cachePolicy = newValue }
    }

    /// The idle timeout in seconds: a request fails after this time without progress. The default is 60.
    open var timeoutIntervalForRequest: TimeInterval {
        get { settings.timeouts.request }
        set { settings.timeouts.request = newValue }
    }

    /// The maximum duration of a task in seconds, measured from its start. The default is 7 days.
    open var timeoutIntervalForResource: TimeInterval {
        get { settings.timeouts.resource }
        set { settings.timeouts.resource = newValue }
    }

    /// The network service type. The default is ``NSURLRequest/NetworkServiceType/default``.
    open var networkServiceType: NSURLRequest.NetworkServiceType {
        get { settings.access.networkServiceType }
        set { settings.access.networkServiceType = newValue }
    }

    /// Whether cellular interfaces may be used. The default is `true`.
    open var allowsCellularAccess: Bool {
        get { settings.access.options[.allowsCellularAccess] }
        set { settings.access.options[.allowsCellularAccess] = newValue }
    }

    /// Whether expensive interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var allowsExpensiveNetworkAccess: Bool {
        get { settings.access.options[.allowsExpensiveAccess] }
        set { settings.access.options[.allowsExpensiveAccess] = newValue }
    }

    /// Whether interfaces in Low Data Mode may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var allowsConstrainedNetworkAccess: Bool {
        get { settings.access.options[.allowsConstrainedAccess] }
        set { settings.access.options[.allowsConstrainedAccess] = newValue }
    }

    /// Whether ultra-constrained interfaces may be used. The default is `false`.
    ///
    /// Counterpart: macOS 26.1, iOS 26.1.
    open var allowsUltraConstrainedNetworkAccess: Bool {
        get { settings.access.options[.allowsUltraConstrainedAccess] }
        set { settings.access.options[.allowsUltraConstrainedAccess] = newValue }
    }

    /// Whether DNS responses must be validated with DNSSEC. The default is `false`.
    ///
    /// Counterpart: macOS 13, iOS 16.
    open var requiresDNSSECValidation: Bool {
        get { settings.access.options[.requiresDNSSECValidation] }
        set { settings.access.options[.requiresDNSSECValidation] = newValue }
    }

    /// Whether a task waits for connectivity instead of failing immediately. The default is `false`.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    open var waitsForConnectivity: Bool {
        get { settings.access.waitsForConnectivity }
        set { settings.access.waitsForConnectivity = newValue }
    }

    /// Whether the system may delay background transfers. The default is `false`.
    ///
    /// If `true`, a transfer waits for a network that is neither expensive nor constrained. It also waits until the
    /// system load is low, but at most an hour.
    ///
    /// Counterpart: macOS 10.10, iOS 7.
    open var isDiscretionary: Bool {
        get { settings.access.isDiscretionary }
        set { settings.access.isDiscretionary = newValue }
    }

    /// The identifier of a container. Programs with the same identifier share their background sessions, one program at a time.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open var sharedContainerIdentifier: String? {
        get { settings.background.sharedContainerIdentifier }
        set { settings.background.sharedContainerIdentifier = newValue }
    }

    /// Whether the program is launched when background transfers finish. The default is `true`. This property has no effect.
    ///
    /// Counterpart: macOS 11, iOS 7.
    open var sessionSendsLaunchEvents: Bool {
        get { settings.background.sendsLaunchEvents }
        set { settings.background.sendsLaunchEvents = newValue }
    }

    /// The proxy settings, with CFNetwork keys. An empty dictionary means no proxy. The default is `nil`, which uses the system's proxies.
    ///
    /// If the dictionary names a proxy, loads use that proxy or fail. This also applies if the proxy's enabling key,
    /// such as ``kCFNetworkProxiesSOCKSEnable``, is missing. Each scheme has its own keys; the SOCKS keys apply to all
    /// schemes. ``kCFProxyTypeKey`` names one proxy for all schemes.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { settings.transport.proxyDictionary }
        set { settings.transport.proxyDictionary = newValue }
    }

    /// The proxies to try, in order. If set, they replace ``connectionProxyDictionary``.
    ///
    /// Counterpart: macOS 14, iOS 17.
    open var proxyConfigurations: [ProxyConfiguration] {
        get { settings.transport.proxies }
        set { settings.transport.proxies = newValue }
    }

    /// The minimum TLS version. The default is TLS 1.2.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { settings.transport.minimumTLSVersion }
        set { settings.transport.minimumTLSVersion = newValue }
    }

    /// The maximum TLS version. The default is TLS 1.3.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { settings.transport.maximumTLSVersion }
        set { settings.transport.maximumTLSVersion = newValue }
    }

    /// Whether requests may be pipelined: sent before earlier responses arrive. The default is `false`. This property has no effect.
    open var httpShouldUsePipelining: Bool {
        get { settings.http.usesPipelining }
        set { settings.http.usesPipelining = newValue }
    }

    /// The compression of messages in WebSocket tasks (RFC 7692). The default is `nil`: tasks then offer no
    /// compression. The size limit for received messages applies to the decompressed messages.
    ///
    /// Counterpart: none.
    open var webSocketCompression: URLSessionWebSocketTask.Compression? {
        get { settings.http.webSocketCompression }
        set { settings.http.webSocketCompression = newValue }
    }

    /// Whether requests send the stored cookies. The default is `true`.
    open var httpShouldSetCookies: Bool {
        get { settings.http.setsCookies }
        set { settings.http.setsCookies = newValue }
    }

    /// Which cookies are stored. The default is ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { settings.http.cookieAcceptPolicy }
        set { settings.http.cookieAcceptPolicy = newValue }
    }

    /// Header fields that are added to all requests. A field in the request replaces the field with the same name.
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { settings.http.additionalFields }
        set { settings.http.additionalFields = newValue }
    }

    /// The session's maximum number of simultaneous connections to one host. The default is 6.
    open var httpMaximumConnectionsPerHost: Int {
        get { settings.http.maximumConnectionsPerHost }
        set { settings.http.maximumConnectionsPerHost = newValue }
    }

    /// The storage for cookies; `nil` to store no cookies.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { settings.stores.cookies }
        set { settings.stores.cookies = newValue }
    }

    /// The storage for credentials; `nil` to store no credentials.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { settings.stores.credentials }
        set { settings.stores.credentials = newValue }
    }

    /// The cache for responses; `nil` to cache no responses.
    open var urlCache: URLCache? {
        get { settings.stores.cache }
        set { settings.stores.cache = newValue }
    }

    /// Whether connections stay open while the program is in the background. This property has no effect.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { settings.background.usesExtendedIdleMode }
        set { settings.background.usesExtendedIdleMode = newValue }
    }

    /// The ``URLProtocol`` subclasses that are offered each request, in order. The default value contains the classes for built-in schemes.
    open var protocolClasses: [AnyClass]? {
        get { settings.protocolClasses }
        set { settings.protocolClasses = newValue }
    }

    /// How Multipath TCP is used. The default is ``MultipathServiceType/none``.
    ///
    /// Counterpart: iOS 11.
    open var multipathServiceType: MultipathServiceType {
        get { settings.access.multipathServiceType }
        set { settings.access.multipathServiceType = newValue }
    }

    /// Whether the classic loader is used. The default is `true`. This property has no effect, because there is only one loader.
    ///
    /// Counterpart: macOS 15.4, iOS 18.4.
    open var usesClassicLoadingMode: Bool {
        get { settings.http.usesClassicLoading }
        set { settings.http.usesClassicLoading = newValue }
    }

    /// Whether the first request on a connection may be sent as TLS early data (RFC 8446 §2.3). The default is `false`.
    /// Early data saves a round trip to a server that the process knows. An attacker can replay early data, so only
    /// requests with a safe method, such as GET, and without content are sent early. After status 425 a request is sent
    /// again, and not as early data (RFC 8470 §5.2).
    ///
    /// Counterpart: macOS 26, iOS 26.
    open var enablesEarlyData: Bool {
        get { settings.transport.enablesEarlyData }
        set { settings.transport.enablesEarlyData = newValue }
    }
}
