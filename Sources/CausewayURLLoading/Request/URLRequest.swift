internal import Causeway
internal import CausewayWire
public import Foundation

/// Stores the values of a ``URLRequest``. A copy of the structure then only retains one reference.
///
/// SAFETY: `values` changes only while a single structure refers to this object (`isKnownUniquelyReferenced`).
/// `RequestTests` tests this with changes to copies.
private final class RequestBox: @unchecked Sendable {
    var values: RequestValues

    init(_ values: consuming RequestValues) { self.values = values }
}

/// A request: a URL, header fields, a body, and the policies for loading it.
///
/// Counterpart: macOS 10.10, iOS 8.
public struct URLRequest: ReferenceConvertible, Hashable, Sendable {
    /// The class that this structure bridges to.
    public typealias ReferenceType = NSURLRequest
    /// How a request uses the cache.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// The network service type.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// The originator of a request.
    public typealias Attribution = NSURLRequest.Attribution

    private var box: RequestBox

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - cachePolicy: How the request uses the cache.
    ///   - timeoutInterval: The idle timeout in seconds: the request fails after this time without progress.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        self.init(values: RequestValues(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval))
    }

    init(values: consuming RequestValues) { box = RequestBox(values) }

    /// The properties of the request. Reading one property does not copy the others.
    var values: RequestValues { _read { yield box.values } }

    /// Changes the request's values. If a copy of the request shares the values, this request first gets its own copy.
    mutating func change(_ body: (inout RequestValues) -> Void) {
        if !isKnownUniquelyReferenced(&box) { box = RequestBox(box.values) }
        body(&box.values)
    }

    /// Returns whether all values of both requests are equal.
    public static func == (lhs: URLRequest, rhs: URLRequest) -> Bool {
        lhs.box === rhs.box || lhs.box.values == rhs.box.values
    }

    /// Hashes the URL, the main document's URL, the method and the body.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.values) }

    /// The URL as a string.
    public var description: String { url?.absoluteString ?? "url: nil" }

    /// The URL as a string.
    public var debugDescription: String { description }

    /// Returns a header field's value. Field names are case-insensitive.
    public func value(forHTTPHeaderField field: String) -> String? { values.fields.firstValue(of: field) }

    /// Sets a header field, or removes it if `value` is `nil`. Field names are case-insensitive. A new field with a
    /// well-known name gets the usual capitalization. An existing field keeps the spelling of its name.
    ///
    /// A name or value that contains CR, LF or NUL is ignored. Exception: the value may contain line folds,
    /// which are CRLF followed by a space or tab. Each fold is sent as a space.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        change { $0.setField(value, field) }
    }

    /// Appends a value to a header field. A comma separates it from the existing value. A name or value that contains
    /// CR, LF or NUL is ignored. Exception: the value may contain line folds, which are CRLF followed by a space or
    /// tab.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        change { $0.addField(value, field) }
    }

    /// The URL.
    public var url: URL? {
        get { values.url }
        set { change { values in values.url = newValue } }
    }

    /// The main document's URL, used by the cookie policy; `nil` means that the request itself is for the main document.
    public var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { change { values in values.mainDocumentURL = newValue } }
    }

    /// How the request uses the cache. The default is ``NSURLRequest/CachePolicy/useProtocolCachePolicy``.
    public var cachePolicy: CachePolicy {
        get { values.cachePolicy }
        set { change { values in values.cachePolicy = newValue } }
    }

    /// The idle timeout in seconds: the request fails after this time without progress. The default is 60.
    public var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { change { values in values.timeoutInterval = newValue } }
    }

    /// The network service type. The default is ``NSURLRequest/NetworkServiceType/default``.
    public var networkServiceType: NetworkServiceType {
        get { values.networkServiceType }
        set { change { values in values.networkServiceType = newValue } }
    }

    /// Whether the developer or the user chose the URL. The default is ``NSURLRequest/Attribution/developer``.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var attribution: Attribution {
        get { values.attribution }
        set { change { values in values.attribution = newValue } }
    }

    /// Whether cellular interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.8, iOS 6.
    public var allowsCellularAccess: Bool {
        get { values.options[.allowsCellularAccess] }
        set { change { values in values.options[.allowsCellularAccess] = newValue } }
    }

    /// Whether expensive interfaces may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var allowsExpensiveNetworkAccess: Bool {
        get { values.options[.allowsExpensiveAccess] }
        set { change { values in values.options[.allowsExpensiveAccess] = newValue } }
    }

    /// Whether interfaces in Low Data Mode may be used. The default is `true`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var allowsConstrainedNetworkAccess: Bool {
        get { values.options[.allowsConstrainedAccess] }
        set { change { values in values.options[.allowsConstrainedAccess] = newValue } }
    }

    /// Whether ultra-constrained interfaces may be used. The default is `false`.
    ///
    /// Counterpart: macOS 26.1, iOS 26.1.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.options[.allowsUltraConstrainedAccess] }
        set { change { values in values.options[.allowsUltraConstrainedAccess] = newValue } }
    }

    /// Whether the server is known to support HTTP/3. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 11.3, iOS 14.5.
    public var assumesHTTP3Capable: Bool {
        get { values.options[.assumesHTTP3Capable] }
        set { change { values in values.options[.assumesHTTP3Capable] = newValue } }
    }

    /// Whether DNS responses must be validated with DNSSEC. The default is `false`.
    ///
    /// Counterpart: macOS 13, iOS 16.1.
    public var requiresDNSSECValidation: Bool {
        get { values.options[.requiresDNSSECValidation] }
        set { change { values in values.options[.requiresDNSSECValidation] = newValue } }
    }

    /// Whether expired DNS records may be used. The default is `false`. Has no effect.
    ///
    /// Counterpart: macOS 15, iOS 18.
    public var allowsPersistentDNS: Bool {
        get { values.options[.allowsPersistentDNS] }
        set { change { values in values.options[.allowsPersistentDNS] = newValue } }
    }

    /// The partition identifier for partitioned cookies. Has no effect.
    ///
    /// Counterpart: macOS 15.2, iOS 18.2.
    public var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { change { values in values.cookiePartitionIdentifier = newValue } }
    }

    /// The HTTP method. The default is `GET`; setting `nil` restores the default.
    public var httpMethod: String? {
        get { values.method }
        set { change { values in values.setMethod(newValue) } }
    }

    /// All header fields; `nil` if neither a field nor this property was set. Setting this property replaces all
    /// fields. A field is left out if its name or value contains CR, LF or NUL. Exception: a value may contain line
    /// folds, which are CRLF followed by a space or tab.
    public var allHTTPHeaderFields: [String: String]? {
        get { values.allFields }
        set { change { values in values.replaceFields(newValue) } }
    }

    /// The request body. Setting this property removes the body stream.
    public var httpBody: Data? {
        get { values.body.data }
        set { change { values in values.body = newValue.map { .data($0) } ?? .none } }
    }

    /// The stream with the request body. Setting this property removes the body data.
    public var httpBodyStream: InputStream? {
        get { values.body.stream }
        set { change { values in values.body = newValue.map { .stream(Unchecked($0)) } ?? .none } }
    }

    /// Whether the request sends stored cookies and stores received cookies. The default is `true`.
    public var httpShouldHandleCookies: Bool {
        get { values.options[.handlesCookies] }
        set { change { values in values.options[.handlesCookies] = newValue } }
    }

    /// Whether the request may be pipelined: sent before earlier responses arrive. The default is `false`. This property has no effect.
    public var httpShouldUsePipelining: Bool {
        get { values.options[.usesPipelining] }
        set { change { values in values.options[.usesPipelining] = newValue } }
    }
}

extension URLRequest: CustomReflectable {
    /// The request's properties that a debugger shows.
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
    /// Returns the request as an `NSURLRequest`.
    @_semantics("convertToObjectiveC")
    public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(values: values) }

    /// Converts an `NSURLRequest` to a `URLRequest`.
    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = URLRequest(values: source.values)
    }

    /// Converts an `NSURLRequest` to a `URLRequest`. Never fails.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = URLRequest(values: source.values)
        return true
    }

    /// Returns an `NSURLRequest` as a `URLRequest`. `nil` becomes a request without a URL.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        URLRequest(
            values: source?.values
                ?? RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60))
    }
}

/// The old name of ``NSMutableURLRequest``.
@available(*, deprecated, message: "Use URLRequest.")
public typealias MutableURLRequest = NSMutableURLRequest
