public import Foundation

internal import CausewayWire

/// A request that cannot be changed: a URL, fields, content and the rules for loading it.
///
/// ``URLRequest`` is the structure for new programs. Both convert into each other with `as`, and ``URLProtocol`` properties
/// are kept.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: `values` changes only in `NSMutableURLRequest`, which, as on Apple platforms, one thread at a time may use. Tasks copy the
// values when they are created; `RequestTests` changes a request after that.
@preconcurrency open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying, @unchecked Sendable {
    var values: RequestValues

    init(values: RequestValues) {
        self.values = values
        super.init()
    }

    /// Creates a request with the default cache policy and a timeout of 60 seconds.
    public convenience init(url: URL) {
        self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
    }

    /// Creates a request.
    ///
    /// - Parameter timeoutInterval: Seconds without progress after which the request fails.
    public init(url: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        values = RequestValues(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
        super.init()
    }

    /// Decodes a request. Returns `nil` for an archive that this module did not write.
    public required init?(coder: NSCoder) {
        guard let archived = coder.decodePropertyList(ArchivedRequest.self) else { return nil }
        values = archived.values
        super.init()
    }

    /// Encodes everything but a body stream.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(ArchivedRequest(values)) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object, because it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns a request that can be changed.
    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// Returns a request that can be changed.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(values: values) }

    /// Compares all values of both requests.
    open override func isEqual(_ other: Any?) -> Bool { (other as? NSURLRequest)?.values == values }

    /// The hash of the values.
    open override var hash: Int { values.hashValue }

    /// The class and the URL.
    open override var description: String { "<\(type(of: self))> { URL: \(values.url?.absoluteString ?? "(null)") }" }

    /// Returns the value of a field. The name compares without case.
    open func value(forHTTPHeaderField field: String) -> String? { values.fields.firstValue(of: field) }

    /// The URL.
    open var url: URL? { values.url }

    /// The URL of the main document, which the cookie policy compares with; `nil` means that the request is for it.
    open var mainDocumentURL: URL? { values.mainDocumentURL }

    /// How caches are used. Default ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    open var cachePolicy: CachePolicy { values.cachePolicy }

    /// Seconds without progress after which the request fails. Default 60.
    open var timeoutInterval: TimeInterval { values.timeoutInterval }

    /// The kind of traffic. Default ``NSURLRequest/NetworkServiceType/default``.
    open var networkServiceType: NetworkServiceType { values.networkServiceType }

    /// Whether the developer or the user chose the URL. Default ``NSURLRequest/Attribution/developer``. macOS 12, iOS 15.
    open var attribution: Attribution { values.attribution }

    /// Whether cellular interfaces may be used. Default `true`. macOS 10.8, iOS 6.
    open var allowsCellularAccess: Bool { values.options[.allowsCellularAccess] }

    /// Whether expensive interfaces may be used. Default `true`. macOS 10.15, iOS 13.
    open var allowsExpensiveNetworkAccess: Bool { values.options[.allowsExpensiveAccess] }

    /// Whether interfaces in Low Data Mode may be used. Default `true`. macOS 10.15, iOS 13.
    open var allowsConstrainedNetworkAccess: Bool { values.options[.allowsConstrainedAccess] }

    /// Whether ultra-constrained interfaces may be used. Default `false`. macOS 26.1, iOS 26.1.
    open var allowsUltraConstrainedNetworkAccess: Bool { values.options[.allowsUltraConstrainedAccess] }

    /// Whether the server is known to support HTTP/3. Default `false`. macOS 11.3, iOS 14.5.
    open var assumesHTTP3Capable: Bool { values.options[.assumesHTTP3Capable] }

    /// Whether answers of the resolver must be validated with DNSSEC. Default `false`. macOS 13, iOS 16.1.
    open var requiresDNSSECValidation: Bool { values.options[.requiresDNSSECValidation] }

    /// Whether expired answers of the resolver may be used. Default `false`. macOS 15, iOS 18.
    open var allowsPersistentDNS: Bool { values.options[.allowsPersistentDNS] }

    /// The partition of partitioned cookies. macOS 15.2, iOS 18.2.
    open var cookiePartitionIdentifier: String? { values.cookiePartitionIdentifier }

    /// The method. Default `GET`; setting `nil` sets it to `GET`.
    open var httpMethod: String? { values.method }

    /// All fields; `nil` if there are none. Setting replaces all of them.
    open var allHTTPHeaderFields: [String: String]? { values.allFields }

    /// The content. Setting it removes the stream.
    open var httpBody: Data? { values.body.data }

    /// The stream that supplies the content. Setting it removes the data.
    open var httpBodyStream: InputStream? { values.body.stream }

    /// Whether cookies are sent and stored. Default `true`.
    open var httpShouldHandleCookies: Bool { values.options[.handlesCookies] }

    /// Whether the request may be sent before earlier responses arrive. Default `false`. Without effect.
    open var httpShouldUsePipelining: Bool { values.options[.usesPipelining] }
}
