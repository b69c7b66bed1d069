internal import Causeway
internal import CausewayWire
public import Foundation

/// Holds the values of a ``URLRequest``, so that a copy costs one reference.
// SAFETY: `values` changes only while one structure refers to the box (`isKnownUniquelyReferenced`). `RequestTests` changes copies.
private final class RequestBox: @unchecked Sendable {
    var values: RequestValues

    init(_ values: RequestValues) { self.values = values }
}

/// A request: a URL, fields, content and the rules for loading it.
///
/// Counterpart: macOS 10.10, iOS 8.
public struct URLRequest: ReferenceConvertible, Hashable, Sendable {
    /// The class that the structure bridges to.
    public typealias ReferenceType = NSURLRequest
    /// How caches are used.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// The kind of traffic.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// Who chose a URL.
    public typealias Attribution = NSURLRequest.Attribution

    private var box: RequestBox

    /// Creates a request.
    ///
    /// - Parameter timeoutInterval: Seconds without progress after which the request fails.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        self.init(values: RequestValues(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval))
    }

    init(values: RequestValues) { box = RequestBox(values) }

    var values: RequestValues { box.values }

    /// Changes the values in place if no other structure shares them.
    mutating func change(_ body: (inout RequestValues) -> Void) {
        if !isKnownUniquelyReferenced(&box) { box = RequestBox(box.values) }
        body(&box.values)
    }

    /// Compares all values of both requests.
    public static func == (lhs: URLRequest, rhs: URLRequest) -> Bool {
        lhs.box === rhs.box || lhs.box.values == rhs.box.values
    }

    /// Hashes the URLs, the method and the content.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.values) }

    /// The URL as text.
    public var description: String { url?.absoluteString ?? "url: nil" }

    /// The URL as text.
    public var debugDescription: String { description }

    /// Returns the value of a field. The name compares without case.
    public func value(forHTTPHeaderField field: String) -> String? { values.fields.firstValue(of: field) }

    /// Sets a field, or removes it if `value` is `nil`. The name compares without case, and a field keeps the spelling of its name.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        change { $0.setField(value, field) }
    }

    /// Appends to the value of a field, after a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        change { $0.addField(value, field) }
    }

    /// The URL.
    public var url: URL? {
        get { values.url }
        set { change { values in values.url = newValue } }
    }

    /// The URL of the main document, which the cookie policy compares with; `nil` means that the request is for it.
    public var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { change { values in values.mainDocumentURL = newValue } }
    }

    /// How caches are used. Default ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    public var cachePolicy: CachePolicy {
        get { values.cachePolicy }
        set { change { values in values.cachePolicy = newValue } }
    }

    /// Seconds without progress after which the request fails. Default 60.
    public var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { change { values in values.timeoutInterval = newValue } }
    }

    /// The kind of traffic. Default ``NSURLRequest/NetworkServiceType/default``.
    public var networkServiceType: NetworkServiceType {
        get { values.networkServiceType }
        set { change { values in values.networkServiceType = newValue } }
    }

    /// Whether the developer or the user chose the URL. Default ``NSURLRequest/Attribution/developer``. macOS 12, iOS 15.
    public var attribution: Attribution {
        get { values.attribution }
        set { change { values in values.attribution = newValue } }
    }

    /// Whether cellular interfaces may be used. Default `true`. macOS 10.8, iOS 6.
    public var allowsCellularAccess: Bool {
        get { values.options[.allowsCellularAccess] }
        set { change { values in values.options[.allowsCellularAccess] = newValue } }
    }

    /// Whether expensive interfaces may be used. Default `true`. macOS 10.15, iOS 13.
    public var allowsExpensiveNetworkAccess: Bool {
        get { values.options[.allowsExpensiveAccess] }
        set { change { values in values.options[.allowsExpensiveAccess] = newValue } }
    }

    /// Whether interfaces in Low Data Mode may be used. Default `true`. macOS 10.15, iOS 13.
    public var allowsConstrainedNetworkAccess: Bool {
        get { values.options[.allowsConstrainedAccess] }
        set { change { values in values.options[.allowsConstrainedAccess] = newValue } }
    }

    /// Whether ultra-constrained interfaces may be used. Default `false`. macOS 26.1, iOS 26.1.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.options[.allowsUltraConstrainedAccess] }
        set { change { values in values.options[.allowsUltraConstrainedAccess] = newValue } }
    }

    /// Whether the server is known to support HTTP/3. Default `false`. macOS 11.3, iOS 14.5.
    public var assumesHTTP3Capable: Bool {
        get { values.options[.assumesHTTP3Capable] }
        set { change { values in values.options[.assumesHTTP3Capable] = newValue } }
    }

    /// Whether answers of the resolver must be validated with DNSSEC. Default `false`. macOS 13, iOS 16.1.
    public var requiresDNSSECValidation: Bool {
        get { values.options[.requiresDNSSECValidation] }
        set { change { values in values.options[.requiresDNSSECValidation] = newValue } }
    }

    /// Whether expired answers of the resolver may be used. Default `false`. macOS 15, iOS 18.
    public var allowsPersistentDNS: Bool {
        get { values.options[.allowsPersistentDNS] }
        set { change { values in values.options[.allowsPersistentDNS] = newValue } }
    }

    /// The partition of partitioned cookies. macOS 15.2, iOS 18.2.
    public var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { change { values in values.cookiePartitionIdentifier = newValue } }
    }

    /// The method. Default `GET`; setting `nil` sets it to `GET`.
    public var httpMethod: String? {
        get { values.method }
        set { change { values in values.setMethod(newValue) } }
    }

    /// All fields; `nil` if there are none. Setting replaces all of them.
    public var allHTTPHeaderFields: [String: String]? {
        get { values.allFields }
        set { change { values in values.replaceFields(newValue) } }
    }

    /// The content. Setting it removes the stream.
    public var httpBody: Data? {
        get { values.body.data }
        set { change { values in values.body = newValue.map { .data($0) } ?? .none } }
    }

    /// The stream that supplies the content. Setting it removes the data.
    public var httpBodyStream: InputStream? {
        get { values.body.stream }
        set { change { values in values.body = newValue.map { .stream(Unchecked($0)) } ?? .none } }
    }

    /// Whether cookies are sent and stored. Default `true`.
    public var httpShouldHandleCookies: Bool {
        get { values.options[.handlesCookies] }
        set { change { values in values.options[.handlesCookies] = newValue } }
    }

    /// Whether the request may be sent before earlier responses arrive. Default `false`. Without effect.
    public var httpShouldUsePipelining: Bool {
        get { values.options[.usesPipelining] }
        set { change { values in values.options[.usesPipelining] = newValue } }
    }
}

extension URLRequest: CustomReflectable {
    /// The values that debuggers show.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": url as Any, "cachePolicy": cachePolicy, "timeoutInterval": timeoutInterval,
                "httpMethod": httpMethod as Any, "allHTTPHeaderFields": allHTTPHeaderFields as Any,
                "httpBody": httpBody as Any,
            ])
    }
}

extension URLRequest: _ObjectiveCBridgeable {
    /// Returns the request as an object.
    @_semantics("convertToObjectiveC")
    public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(values: values) }

    /// Converts an object to the structure.
    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = URLRequest(values: source.values)
    }

    /// Converts an object to the structure. Never fails.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = URLRequest(values: source.values)
        return true
    }

    /// Returns the object as a structure. `nil` becomes a request without a URL.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        URLRequest(
            values: source?.values
                ?? RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60))
    }
}

/// The old name of ``NSMutableURLRequest``.
@available(*, deprecated, message: "Use URLRequest.")
public typealias MutableURLRequest = NSMutableURLRequest
