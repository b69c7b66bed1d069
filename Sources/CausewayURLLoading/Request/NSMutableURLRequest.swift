internal import Causeway
public import Foundation

/// A mutable request. Do not use one object on several threads at the same time.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: see `NSURLRequest`.
@preconcurrency open class NSMutableURLRequest: NSURLRequest, @unchecked Sendable {
    /// Creates a request with the default cache policy and a timeout of 60 seconds.
    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
    }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - cachePolicy: How the request uses the cache.
    ///   - timeoutInterval: The idle timeout in seconds: the request fails after this time without progress.
    public override init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        super.init(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// Creates a request without a URL.
    public override init() { super.init() }

    override init(values: RequestValues) { super.init(values: values) }

    /// Decodes a request.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Returns an immutable copy of the request.
    open override func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(values: values) }

    /// Sets a header field, or removes it if `value` is `nil`. Field names are case-insensitive. A new field with a
    /// well-known name gets the usual capitalization. An existing field keeps the spelling of its name.
    ///
    /// A name or value that contains CR, LF or NUL is ignored. There is one exception: the value may contain line
    /// folds. A line fold is CRLF followed by a space or tab. Each fold is sent as a space.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) { values.setField(value, field) }

    /// Appends a value to a header field. A comma separates it from the existing value. A name or value that contains
    /// CR, LF or NUL is ignored. Exception: the value may contain line folds, which are CRLF followed by a space or
    /// tab.
    open func addValue(_ value: String, forHTTPHeaderField field: String) { values.addField(value, field) }

    /// The URL.
    open override var url: URL? {
        get { values.url }
        set { values.url = newValue }
    }

    /// The URL of the main document. The cookie policy uses it. `nil` means that the request itself loads the main
    /// document.
    open override var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { values.mainDocumentURL = newValue }
    }

    /// How the request uses the cache. The default is ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    open override var cachePolicy: CachePolicy {
        get { values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    /// The idle timeout in seconds: the request fails after this time without progress. The default is 60.
    open override var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { values.timeoutInterval = newValue }
    }

    /// The network service type. The default is ``NSURLRequest/NetworkServiceType/default``.
    open override var networkServiceType: NetworkServiceType {
        get { values.networkServiceType }
        set { values.networkServiceType = newValue }
    }

    /// Whether the developer or the user chose the URL. The default is ``NSURLRequest/Attribution/developer``.
    ///
    /// Counterpart: macOS 12, iOS 15.
    open override var attribution: Attribution {
        get { values.attribution }
        set { values.attribution = newValue }
    }

    /// Whether cellular interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.8, iOS 6.
    open override var allowsCellularAccess: Bool {
        get { values.options[.allowsCellularAccess] }
        set { values.options[.allowsCellularAccess] = newValue }
    }

    /// Whether expensive interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open override var allowsExpensiveNetworkAccess: Bool {
        get { values.options[.allowsExpensiveAccess] }
        set { values.options[.allowsExpensiveAccess] = newValue }
    }

    /// Whether interfaces in Low Data Mode may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open override var allowsConstrainedNetworkAccess: Bool {
        get { values.options[.allowsConstrainedAccess] }
        set { values.options[.allowsConstrainedAccess] = newValue }
    }

    /// Whether ultra-constrained interfaces may be used. The default is `false`.
    ///
    /// Counterpart: macOS 26.1, iOS 26.1.
    open override var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.options[.allowsUltraConstrainedAccess] }
        set { values.options[.allowsUltraConstrainedAccess] = newValue }
    }

    /// Whether the server is known to support HTTP/3. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 11.3, iOS 14.5.
    open override var assumesHTTP3Capable: Bool {
        get { values.options[.assumesHTTP3Capable] }
        set { values.options[.assumesHTTP3Capable] = newValue }
    }

    /// Whether DNS responses must be validated with DNSSEC. The default is `false`.
    ///
    /// Counterpart: macOS 13, iOS 16.1.
    open override var requiresDNSSECValidation: Bool {
        get { values.options[.requiresDNSSECValidation] }
        set { values.options[.requiresDNSSECValidation] = newValue }
    }

    /// Whether expired DNS records may be used. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 15, iOS 18.
    open override var allowsPersistentDNS: Bool {
        get { values.options[.allowsPersistentDNS] }
        set { values.options[.allowsPersistentDNS] = newValue }
    }

    /// The partition identifier for partitioned cookies. Has no effect.
    ///
    /// Counterpart: macOS 15.2, iOS 18.2.
    open override var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { values.cookiePartitionIdentifier = newValue }
    }

    /// The HTTP method. The default is `GET`; setting `nil` restores the default.
    open override var httpMethod: String? {
        get { values.method }
        set { values.setMethod(newValue) }
    }

    /// All header fields; `nil` if neither a field nor this property was set. Setting this property replaces all
    /// fields. A field is left out if its name or value contains CR, LF or NUL. Exception: a value may contain line
    /// folds, which are CRLF followed by a space or tab.
    open override var allHTTPHeaderFields: [String: String]? {
        get { values.allFields }
        set { values.replaceFields(newValue) }
    }

    /// The request body. Setting this property removes the body stream.
    open override var httpBody: Data? {
        get { values.body.data }
        set { values.body = newValue.map { .data($0) } ?? .none }
    }

    /// The stream with the request body. Setting this property removes the body data.
    open override var httpBodyStream: InputStream? {
        get { values.body.stream }
        set { values.body = newValue.map { .stream(Unchecked($0)) } ?? .none }
    }

    /// Whether the request sends stored cookies and stores received cookies. The default is `true`.
    open override var httpShouldHandleCookies: Bool {
        get { values.options[.handlesCookies] }
        set { values.options[.handlesCookies] = newValue }
    }

    /// Whether the request may be pipelined: sent before earlier responses arrive. The default is `false`. This property has no effect.
    open override var httpShouldUsePipelining: Bool {
        get { values.options[.usesPipelining] }
        set { values.options[.usesPipelining] = newValue }
    }
}
