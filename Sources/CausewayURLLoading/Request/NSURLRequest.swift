public import Foundation

internal import CausewayWire

/// An immutable request: a URL, header fields, a body, and the policies for loading it.
///
/// New programs use the structure ``URLRequest``. Convert between the two types with `as`; the conversion keeps
/// ``URLProtocol`` properties.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: `values` changes only in `NSMutableURLRequest`. As on Apple platforms, such an object must be used on one
// thread at a time. Tasks copy the values when they are created. `RequestTests` changes a mutable request after it was
// copied.
@preconcurrency open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying, @unchecked Sendable {
    var values: RequestValues

    init(values: RequestValues) {
        self.values = values
        super.init()
    }

    /// Creates a request without a URL, for subclasses with an initializer of their own.
    public override init() {
        values = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        super.init()
    }

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
    public init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        values = RequestValues(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
        super.init()
    }

    /// Decodes a request. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let archived = coder.decodePropertyList(ArchivedRequest.self) else { return nil }
        values = archived.values
        super.init()
    }

    /// Encodes the request. A body stream is not encoded.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(ArchivedRequest(values)) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns this object. No copy is made because the object is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns a mutable copy of the request.
    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// Returns a mutable copy of the request.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(values: values) }

    /// Returns whether all values of both requests are equal.
    open override func isEqual(_ other: Any?) -> Bool { (other as? NSURLRequest)?.values == values }

    /// A hash value of the URL, the main document's URL, the method and the body. Equal requests have equal hash
    /// values.
    open override var hash: Int { values.hashValue }

    /// A textual description: the class and the URL.
    open override var description: String { "<\(type(of: self))> { URL: \(values.url?.absoluteString ?? "(null)") }" }

    /// Returns a header field's value. Field names are case-insensitive.
    open func value(forHTTPHeaderField field: String) -> String? { values.fields.firstValue(of: field) }

    /// The URL.
    open var url: URL? { values.url }

    /// The main document's URL, used by the cookie policy; `nil` means that the request itself is for the main document.
    open var mainDocumentURL: URL? { values.mainDocumentURL }

    /// How the request uses the cache. The default is ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    open var cachePolicy: CachePolicy { values.cachePolicy }

    /// The idle timeout in seconds: the request fails after this time without progress. The default is 60.
    open var timeoutInterval: TimeInterval { values.timeoutInterval }

    /// The network service type. The default is ``NSURLRequest/NetworkServiceType/default``.
    open var networkServiceType: NetworkServiceType { values.networkServiceType }

    /// Whether the developer or the user chose the URL. The default is ``NSURLRequest/Attribution/developer``.
    ///
    /// Counterpart: macOS 12, iOS 15.
    open var attribution: Attribution { values.attribution }

    /// Whether cellular interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.8, iOS 6.
    open var allowsCellularAccess: Bool { values.options[.allowsCellularAccess] }

    /// Whether expensive interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var allowsExpensiveNetworkAccess: Bool { values.options[.allowsExpensiveAccess] }

    /// Whether interfaces in Low Data Mode may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open var allowsConstrainedNetworkAccess: Bool { values.options[.allowsConstrainedAccess] }

    /// Whether ultra-constrained interfaces may be used. The default is `false`.
    ///
    /// Counterpart: macOS 26.1, iOS 26.1.
    open var allowsUltraConstrainedNetworkAccess: Bool { values.options[.allowsUltraConstrainedAccess] }

    /// Whether the server is known to support HTTP/3. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 11.3, iOS 14.5.
    open var assumesHTTP3Capable: Bool { values.options[.assumesHTTP3Capable] }

    /// Whether DNS responses must be validated with DNSSEC. The default is `false`.
    ///
    /// Counterpart: macOS 13, iOS 16.1.
    open var requiresDNSSECValidation: Bool { values.options[.requiresDNSSECValidation] }

    /// Whether expired DNS records may be used. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 15, iOS 18.
    open var allowsPersistentDNS: Bool { values.options[.allowsPersistentDNS] }

    /// The partition identifier for partitioned cookies. Has no effect.
    ///
    /// Counterpart: macOS 15.2, iOS 18.2.
    open var cookiePartitionIdentifier: String? { values.cookiePartitionIdentifier }

    /// The HTTP method. The default is `GET`.
    open var httpMethod: String? { values.method }

    /// All header fields; `nil` if no field was set.
    open var allHTTPHeaderFields: [String: String]? { values.allFields }

    /// The request body; `nil` if there is none or if it is a stream.
    open var httpBody: Data? { values.body.data }

    /// The stream with the request body; `nil` if there is none.
    open var httpBodyStream: InputStream? { values.body.stream }

    /// Whether the request sends stored cookies and stores received cookies. The default is `true`.
    open var httpShouldHandleCookies: Bool { values.options[.handlesCookies] }

    /// Whether the request may be pipelined: sent before earlier responses arrive. The default is `false`. This property has no effect.
    open var httpShouldUsePipelining: Bool { values.options[.usesPipelining] }
}
