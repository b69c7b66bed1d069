internal import Causeway
internal import CausewaySystem
internal import Dispatch
public import Foundation

/// Loads one request and calls its delegate in run loops. This class is for existing programs; use ``URLSession`` in
/// new programs.
///
/// The connection retains its delegate until the final callback. After ``cancel()`` the delegate is not called any
/// more.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored properties are constants, and locks guard their state. Subclasses outside this module must make their own properties
// thread-safe.
@preconcurrency open class NSURLConnection: NSObject, @unchecked Sendable {
    /// The session for all connections. Like the shared session, it uses registered ``URLProtocol`` classes and is never invalidated.
    static let session = makeSession(URLSessionConfiguration.default.settings)

    /// The session for connections whose delegate forbids the use of stored credentials.
    private static let sessionWithoutCredentials: URLSession = {
        var settings = URLSessionConfiguration.default.settings
        settings.stores.credentials = nil
        return makeSession(settings)
    }()

    private static func makeSession(_ settings: SessionSettings) -> URLSession {
        URLSession(core: SessionCore(settings, delegate: nil, queue: nil, isShared: true))
    }

    /// Returns the session for connections that use stored credentials, or the session for connections that do not.
    static func session(usingCredentials: Bool) -> URLSession {
        usingCredentials ? session : sessionWithoutCredentials
    }

    private let request: URLRequest
    private let task = LockedValue<URLSessionDataTask?>(nil)
    private let events: ConnectionEvents<any NSURLConnectionDelegate>
    private let hasStarted = LockedValue(false)

    /// Creates a connection.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - delegate: An ``NSURLConnectionDelegate``, retained until the final callback.
    ///   - startImmediately: Whether to start in the current run loop, in its default mode.
    public init?(request: URLRequest, delegate: Any?, startImmediately: Bool) {
        self.request = request
        events = ConnectionEvents(delegate as? any NSURLConnectionDelegate ?? NoDelegate())
        super.init()
        if startImmediately { start() }
    }

    /// Creates an `NSURLConnection` and starts it in the current run loop.
    public convenience init?(request: URLRequest, delegate: Any?) {
        self.init(request: request, delegate: delegate, startImmediately: true)
    }

    /// The request passed to the initializer.
    ///
    /// Counterpart: macOS 10.8, iOS 5.
    open var originalRequest: URLRequest { request }

    /// The currently loaded request, which changes with a redirect.
    ///
    /// Counterpart: macOS 10.8, iOS 5.
    open var currentRequest: URLRequest { task.withLock { $0 }?.currentRequest ?? request }

    /// Starts the load. If no run loop or queue is set, the delegate is called in the current run loop.
    ///
    /// Counterpart: macOS 10.5, iOS 2.
    open func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        if !events.hasPlace { events.schedule(in: .current, .default) }
        events.add { [self] delegate in
            // Before the first request is sent, the delegate may change it.
            let session = Self.session(usingCredentials: delegate.connectionShouldUseCredentialStorage(self))
            guard let delegate = delegate as? any NSURLConnectionDataDelegate else { return load(request, in: session) }
            guard let first = delegate.connection(self, willSend: request, redirectResponse: nil) else {
                return cancel()
            }
            load(first, in: session)
        }
    }

    private func load(_ request: URLRequest, in session: URLSession) {
        let made = session.dataTask(with: request)
        made.delegate = ConnectionAdapter(self, events)
        task.withLock { $0 = made }
        // The connection may have been cancelled before `task` was set. In that case, `cancel()` found no task, so
        // cancel the task here.
        if events.hasEnded { made.cancel() } else { made.resume() }
    }

    /// Cancels the load. The delegate is not called any more.
    open func cancel() {
        events.end()
        task.withLock { $0 }?.cancel()
    }

    /// Adds a run loop in which the delegate's methods are called. This has no effect after ``setDelegateQueue(_:)``.
    ///
    /// Counterpart: macOS 10.5, iOS 2.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop, mode) }

    /// Stops calling the delegate in a run loop.
    ///
    /// Counterpart: macOS 10.5, iOS 2.
    open func unschedule(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: aRunLoop, mode) }

    /// Sets the queue on which the delegate is called. The delegate is then no longer called in run loops.
    ///
    /// Counterpart: macOS 10.7, iOS 5.
    open func setDelegateQueue(_ queue: OperationQueue?) { events.use(queue) }

    /// Returns whether a request can be loaded.
    open class func canHandle(_ request: URLRequest) -> Bool {
        if BuiltInProtocols.canLoad(request) { return true }
        let task = session.dataTask(with: request)
        defer { task.cancel() }
        return session.core.protocolClass(for: task, request) != nil
    }

    /// Loads a request synchronously. Blocks the calling thread until the load completes.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - response: Receives the response.
    open class func sendSynchronousRequest(
        _ request: URLRequest, returning response: UnsafeMutablePointer<URLResponse?>?
    ) throws -> Data {
        let done = DispatchSemaphore(value: 0)
        let box = SynchronousResult()
        session.dataTask(with: request) { data, response, error in
            box.set(data, response, error)
            done.signal()
        }.resume()
        done.wait()
        response?.pointee = box.response
        return try box.content()
    }

    /// Loads a request and calls a completion handler on a queue.
    ///
    /// Counterpart: macOS 10.7, iOS 5.
    open class func sendAsynchronousRequest(
        _ request: URLRequest, queue: OperationQueue,
        completionHandler handler: @escaping @Sendable (URLResponse?, Data?, (any Error)?) -> Void
    ) {
        session.dataTask(with: request) { data, response, error in
            queue.addOperation { handler(response, data, error) }
        }.resume()
    }
}

/// Stores the result of a synchronous load.
private final class SynchronousResult: Sendable {
    private struct Values {
        var data: Data?
        var response: URLResponse?
        var error: (any Error)?
    }

    private let values = LockedValue(Values())

    var response: URLResponse? { values.withLock { $0.response } }

    func set(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        values.withLock { $0 = Values(data: data, response: response, error: error) }
    }

    func content() throws -> Data {
        let (data, error) = values.withLock { ($0.data, $0.error) }
        if let error { throw error }
        return data ?? Data()
    }
}

/// The delegate of a connection for which the program supplies no delegate.
private final class NoDelegate: NSObject, NSURLConnectionDelegate {}
