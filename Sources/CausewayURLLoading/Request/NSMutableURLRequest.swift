internal import Causeway
public import Foundation

/// A request that can be changed. Use one object on one thread at a time.
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
    /// - Parameter timeoutInterval: Seconds without progress after which the request fails.
    public override init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        super.init(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    override init(values: RequestValues) { super.init(values: values) }

    /// Decodes a request.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Returns a request with the current values that cannot be changed.
    open override func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(values: values) }

    /// Sets a field, or removes it if `value` is `nil`. The name compares without case, and a field keeps the spelling of its name.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) { values.setField(value, field) }

    /// Appends to the value of a field, after a comma.
    open func addValue(_ value: String, forHTTPHeaderField field: String) { values.addField(value, field) }

    /// The URL.
    open override var url: URL? {
        get { values.url }
        set { values.url = newValue }
    }

    /// The URL of the main document, which the cookie policy compares with; `nil` means that the request is for it.
    open override var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { values.mainDocumentURL = newValue }
    }

    /// How caches are used. Default ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    open override var cachePolicy: CachePolicy {
        get { values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    /// Seconds without progress after which the request fails. Default 60.
    open override var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { values.timeoutInterval = newValue }
    }

    /// The kind of traffic. Default ``NSURLRequest/NetworkServiceType/default``.
    open override var networkServiceType: NetworkServiceType {
        get { values.networkServiceType }
        set { values.networkServiceType = newValue }
    }

    /// Whether the developer or the user chose the URL. Default ``NSURLRequest/Attribution/developer``. macOS 12, iOS 15.
    open override var attribution: Attribution {
        get { values.attribution }
        set { values.attribution = newValue }
    }

    /// Whether cellular interfaces may be used. Default `true`. macOS 10.8, iOS 6.
    open override var allowsCellularAccess: Bool {
        get { values.options[.allowsCellularAccess] }
        set { values.options[.allowsCellularAccess] = newValue }
    }

    /// Whether expensive interfaces may be used. Default `true`. macOS 10.15, iOS 13.
    open override var allowsExpensiveNetworkAccess: Bool {
        get { values.options[.allowsExpensiveAccess] }
        set { values.options[.allowsExpensiveAccess] = newValue }
    }

    /// Whether interfaces in Low Data Mode may be used. Default `true`. macOS 10.15, iOS 13.
    open override var allowsConstrainedNetworkAccess: Bool {
        get { values.options[.allowsConstrainedAccess] }
        set { values.options[.allowsConstrainedAccess] = newValue }
    }

    /// Whether ultra-constrained interfaces may be used. Default `false`. macOS 26.1, iOS 26.1.
    open override var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.options[.allowsUltraConstrainedAccess] }
        set { values.options[.allowsUltraConstrainedAccess] = newValue }
    }

    /// Whether the server is known to support HTTP/3. Default `false`. macOS 11.3, iOS 14.5.
    open override var assumesHTTP3Capable: Bool {
        get { values.options[.assumesHTTP3Capable] }
        set { values.options[.assumesHTTP3Capable] = newValue }
    }

    /// Whether answers of the resolver must be validated with DNSSEC. Default `false`. macOS 13, iOS 16.1.
    open override var requiresDNSSECValidation: Bool {
        get { values.options[.requiresDNSSECValidation] }
        set { values.options[.requiresDNSSECValidation] = newValue }
    }

    /// Whether expired answers of the resolver may be used. Default `false`. macOS 15, iOS 18.
    open override var allowsPersistentDNS: Bool {
        get { values.options[.allowsPersistentDNS] }
        set { values.options[.allowsPersistentDNS] = newValue }
    }

    /// The partition of partitioned cookies. macOS 15.2, iOS 18.2.
    open override var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { values.cookiePartitionIdentifier = newValue }
    }

    /// The method. Default `GET`; setting `nil` sets it to `GET`.
    open override var httpMethod: String? {
        get { values.method }
        set { values.setMethod(newValue) }
    }

    /// All fields; `nil` if there are none. Setting replaces all of them.
    open override var allHTTPHeaderFields: [String: String]? {
        get { values.allFields }
        set { values.replaceFields(newValue) }
    }

    /// The content. Setting it removes the stream.
    open override var httpBody: Data? {
        get { values.body.data }
        set { values.body = newValue.map { .data($0) } ?? .none }
    }

    /// The stream that supplies the content. Setting it removes the data.
    open override var httpBodyStream: InputStream? {
        get { values.body.stream }
        set { values.body = newValue.map { .stream(Unchecked($0)) } ?? .none }
    }

    /// Whether cookies are sent and stored. Default `true`.
    open override var httpShouldHandleCookies: Bool {
        get { values.options[.handlesCookies] }
        set { values.options[.handlesCookies] = newValue }
    }

    /// Whether the request may be sent before earlier responses arrive. Default `false`. Without effect.
    open override var httpShouldUsePipelining: Bool {
        get { values.options[.usesPipelining] }
        set { values.options[.usesPipelining] = newValue }
    }
}
