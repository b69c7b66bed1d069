internal import Causeway
public import Foundation

/// The loader of a scheme, or a replacement of the built-in loaders. Programs subclass it, above all in tests.
///
/// A subclass overrides ``canInit(with:)-(URLRequest)``, ``canonicalRequest(for:)``, ``startLoading()`` and ``stopLoading()``, and
/// reports to its ``client``. Both initializers are `required`, because on Linux an object of an unknown class can only be created
/// through a required initializer.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored properties of this class are set before `startLoading` and not changed later. Subclasses of programs answer for
// their own.
@preconcurrency open class URLProtocol: NSObject, @unchecked Sendable {
    private struct Values {
        var request: URLRequest
        var cachedResponse: CachedURLResponse?
        var client: (any URLProtocolClient)?
        var task: URLSessionTask?
    }

    private var values: Values

    /// Creates an object for a request.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        values = Values(request: request, cachedResponse: cachedResponse, client: client)
        super.init()
    }

    /// Creates an object for the current request of a task. macOS 10.10, iOS 8.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let empty = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        self.init(
            request: task.currentRequest ?? URLRequest(values: empty), cachedResponse: cachedResponse, client: client)
        values.task = task
    }

    /// Receives what the object loads.
    open var client: (any URLProtocolClient)? { values.client }

    /// The request, in its canonical form.
    open var request: URLRequest { values.request }

    /// The stored response to the request.
    open var cachedResponse: CachedURLResponse? { values.cachedResponse }

    /// The task; `nil` for `NSURLConnection`. macOS 10.10, iOS 8.
    open var task: URLSessionTask? { values.task }

    /// Returns whether the class loads a request. Override it. Default: `false`.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Returns whether the class loads a task. Default: asks for its current request. macOS 10.10, iOS 8.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// Returns a request in canonical form. Default: unchanged.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Returns whether the responses to two requests can replace each other in a cache. Default: equal requests can.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { a == b }

    /// Begins to load. Override it. Default: reports an unsupported URL.
    open func startLoading() {
        client?.urlProtocol(self, didFailWithError: LoadFailure(.unsupportedURL).urlError(for: request.url))
    }

    /// Stops loading. Called once for each ``startLoading()``, also after the end.
    open func stopLoading() {}

    /// Returns a value that was stored with a request.
    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.values.properties?.value[key]
    }

    /// Stores a value with a request. Copies of the request keep it, also as ``URLRequest``.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        var properties = request.values.properties?.value ?? [:]
        properties[key] = value
        request.values.properties = Unchecked(properties)
    }

    /// Removes a value that was stored with a request.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        var properties = request.values.properties?.value ?? [:]
        properties[key] = nil
        request.values.properties = properties.isEmpty ? nil : Unchecked(properties)
    }

    /// Registers a class for the shared session and for `NSURLConnection`. The latest one is asked first. Returns whether it is a
    /// subclass of ``URLProtocol``.
    open class func registerClass(_ protocolClass: AnyClass) -> Bool { ProtocolRegistry.register(protocolClass) }

    /// Removes a registered class.
    open class func unregisterClass(_ protocolClass: AnyClass) { ProtocolRegistry.unregister(protocolClass) }
}

/// Receives what a ``URLProtocol`` loads. May be called from any thread.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// The response redirects. The object has ended; another one loads the new request.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    /// The stored response may be used. The client delivers it.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    /// The response arrived.
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
    /// Content arrived.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    /// The content is complete.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    /// The load failed.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    /// A credential is needed. The sender of the challenge gets the answer.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    /// The challenge no longer matters.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
