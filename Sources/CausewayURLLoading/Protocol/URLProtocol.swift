internal import Causeway
public import Foundation

/// An abstract class for loading URLs with a custom scheme or for replacing the built-in loaders. Programs subclass it, mostly in tests.
///
/// A subclass overrides ``canInit(with:)-(URLRequest)``, ``canonicalRequest(for:)``, ``startLoading()`` and ``stopLoading()``, and reports
/// its progress to its ``client``. Both initializers are `required`: on Linux, only a required initializer can create
/// an object whose class is known only at run time.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored properties of this class are set before `startLoading` and not changed later. Subclasses outside this module must make
// their own properties thread-safe.
@preconcurrency open class URLProtocol: NSObject, @unchecked Sendable {
    private struct Values {
        var request: URLRequest
        var cachedResponse: CachedURLResponse?
        var client: (any URLProtocolClient)?
        var task: URLSessionTask?
    }

    private var values: Values

    /// Creates a protocol object for a request.
    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        values = Values(request: request, cachedResponse: cachedResponse, client: client)
        super.init()
    }

    /// Creates a protocol object for a task's current request.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let empty = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        self.init(
            request: task.currentRequest ?? URLRequest(values: empty), cachedResponse: cachedResponse, client: client)
        values.task = task
    }

    /// The object that receives the response, the content and the outcome.
    open var client: (any URLProtocolClient)? { values.client }

    /// The canonical request.
    open var request: URLRequest { values.request }

    /// The cached response for the request.
    open var cachedResponse: CachedURLResponse? { values.cachedResponse }

    /// The task for which the object loads; `nil` if the object was created without a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open var task: URLSessionTask? { values.task }

    /// Returns whether the class can load a request. Subclasses must override this method. The default is `false`.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Returns whether the class can load a task. The default implementation checks the task's current request.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// Returns the canonical form of a request. The default implementation returns the request unchanged.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Returns whether two requests are equivalent for a cache. The default implementation compares the requests for
    /// equality. This method is never called by loads.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { a == b }

    /// Starts loading. Subclasses must override this method. The default implementation reports an unsupported URL.
    open func startLoading() {
        client?.urlProtocol(self, didFailWithError: LoadFailure(.unsupportedURL).urlError(for: request.url))
    }

    /// Stops the load. This method is called once after each ``startLoading()``, even if the load has already ended.
    open func stopLoading() {}

    /// Returns a property stored with a request.
    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.values.properties?.value[key]
    }

    /// Stores a property in a request. All copies of the request keep the property, and so does a ``URLRequest`` made
    /// from the request.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        var properties = request.values.properties?.value ?? [:]
        properties[key] = value
        request.values.properties = Unchecked(properties)
    }

    /// Removes a property stored with a request.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        var properties = request.values.properties?.value ?? [:]
        properties[key] = nil
        request.values.properties = properties.isEmpty ? nil : Unchecked(properties)
    }

    /// Registers a class for the shared session and for `NSURLConnection`. The most recently registered class is tried first. Returns
    /// whether the class is a subclass of ``URLProtocol``.
    @discardableResult
    open class func registerClass(_ protocolClass: AnyClass) -> Bool { ProtocolRegistry.register(protocolClass) }

    /// Removes a registered class.
    open class func unregisterClass(_ protocolClass: AnyClass) { ProtocolRegistry.unregister(protocolClass) }
}

/// Receives the response, the content and the outcome from a ``URLProtocol``. The methods can be called from any thread.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol URLProtocolClient: NSObjectProtocol, Sendable {
    /// Reports a redirect. The protocol object has finished; a new protocol object loads the new request.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    /// Reports that the cached response is valid. The client delivers it to the task.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    /// Reports the response.
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
    /// Reports content.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    /// Reports that the load completed successfully.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    /// Reports that the load failed.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    /// Reports an authentication challenge. The client passes the decision to the `sender` of `challenge`.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    /// Reports that a challenge was cancelled.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
