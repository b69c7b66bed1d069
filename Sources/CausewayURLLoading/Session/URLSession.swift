internal import Causeway
public import CausewayBonjour
public import Foundation

/// Creates tasks that load URLs. The tasks share the settings, the delegate, the cache, the cookies and the
/// credentials.
///
/// A session retains its delegate until the session becomes invalid, so call ``finishTasksAndInvalidate()`` or ``invalidateAndCancel()``. A
/// session loads `http:`, `https:`, `data:` and `file:` URLs, and URLs that a program's ``URLProtocol`` subclass handles; WebSocket tasks
/// load `ws:` and `wss:` URLs. Other URLs fail with `URLError.unsupportedURL`.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: the stored property of this class is set only by its initializers. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLSession: NSObject, @unchecked Sendable {
    /// A completion handler for a data task's result.
    typealias DataHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    /// A completion handler for a download task's result.
    typealias FileHandler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    private static let sharedSession = URLSession(
        core: SessionCore(URLSessionConfiguration.default.settings, delegate: nil, queue: nil, isShared: true))
    private(set) var core: SessionCore

    /// The process-wide shared session. It has default settings and no delegate, and cannot be invalidated.
    open class var shared: URLSession { sharedSession }

    // `init()` is the only designated initializer, as on Apple platforms: only then does `override init() {}` in a test double compile.

    /// Creates a session with default settings, for subclasses in tests.
    public override init() {
        core = SessionCore(URLSessionConfiguration.default.settings, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session without a delegate.
    public convenience init(configuration: URLSessionConfiguration) {
        let settings = configuration.settings
        self.init(core: SessionCore(settings, delegate: nil, queue: nil, background: BackgroundPlace(settings)))
    }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. The session uses a copy.
    ///   - delegate: The delegate. The session retains it until the session becomes invalid.
    ///   - queue: The queue on which the delegate and completion handlers are called. It should be serial. `nil` creates a serial queue.
    public convenience init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        let settings = configuration.settings
        self.init(core: SessionCore(settings, delegate: delegate, queue: queue, background: BackgroundPlace(settings)))
    }

    convenience init(core: SessionCore) {
        self.init()
        self.core = core
        core.background.session?.start(self)
    }

    /// The queue on which the delegate and completion handlers are called.
    open var delegateQueue: OperationQueue { core.queue }

    /// The delegate; `nil` after the session has become invalid.
    open var delegate: (any URLSessionDelegate)? { core.delegate?.session }

    /// A copy of the configuration passed to the initializer.
    open var configuration: URLSessionConfiguration { URLSessionConfiguration(core.settings) }

    /// An application-defined description.
    open var sessionDescription: String? {
        get { core.sessionDescription }
        set { core.sessionDescription = newValue }
    }

    /// Invalidates the session after its tasks have completed. Has no effect on the shared session.
    open func finishTasksAndInvalidate() { core.invalidate(self, cancelsTasks: false) }

    /// Cancels all tasks and invalidates the session. Has no effect on the shared session.
    open func invalidateAndCancel() { core.invalidate(self, cancelsTasks: true) }

    /// Removes all cookies, cached responses, credentials and Strict-Transport-Security hosts. Later requests use new connections. The
    /// completion handler is called on the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        let stores = core.settings.stores
        stores.cache?.removeAllCachedResponses()
        stores.cookies?.removeCookies(since: .distantPast)
        stores.credentials?.removeAll()
        core.network.strictTransport.removeAll()
        core.network.forgetCredentials()
        core.network.alternatives.removeAll()
        core.network.renewConnections()
        core.queue.addOperation(completionHandler)
    }

    /// Writes cookies, credentials and Strict-Transport-Security hosts to their files. Later requests use new connections. The completion
    /// handler is called on the delegate queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        core.network.renewConnections()
        core.work.async { [core] in
            core.settings.stores.cookies?.flush()
            core.settings.stores.credentials?.flush()
            core.network.strictTransport.flush()
            core.queue.addOperation(completionHandler)
        }
    }

    /// Passes the data, upload and download tasks that have been resumed and are neither cancelled nor completed to a
    /// completion handler on the delegate queue.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
    ) {
        getAllTasks { tasks in
            let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
            let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
            completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
        }
    }

    /// Passes all tasks that have been resumed and are neither cancelled nor completed to a completion handler on the
    /// delegate queue. In a background session, passes all tasks that have not completed.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.afterRestoring { [core] in core.queue.addOperation { completionHandler(core.tasks) } }
    }

    // MARK: Data tasks

    /// Creates a task that loads a request.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { makeDataTask(request, .delegate) }

    /// Creates a task that loads a URL.
    open func dataTask(with url: URL) -> URLSessionDataTask { makeDataTask(URLRequest(url: url), .delegate) }

    /// Creates a task that loads a request and passes the content to a completion handler on the delegate queue.
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(request, .handler(completionHandler))
    }

    /// Creates a task that loads a URL and passes the content to a completion handler on the delegate queue.
    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url), .handler(completionHandler))
    }

    // MARK: Upload tasks

    /// Creates a task that uploads a file.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL), .delegate)
    }

    /// Creates a task that uploads data.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData), .delegate)
    }

    /// Creates a task that resumes an upload. The task asks the server how many bytes have arrived, and sends the rest.
    /// If the server no longer has the upload, or the file has changed, the task starts over. If the resume data is
    /// invalid, the task fails with `URLError.unsupportedURL`.
    ///
    /// Counterpart: macOS 14, iOS 17.
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        makeUploadTask(resuming: resumeData, .delegate)
    }

    /// Creates a task that uploads a stream that the delegate supplies.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(request, .stream, .delegate)
    }

    /// Creates a task that uploads a file and passes the response content to a completion handler on the delegate queue.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL), .handler(completionHandler))
    }

    /// Creates a task that uploads data and passes the response content to a completion handler on the delegate queue.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData ?? Data()), .handler(completionHandler))
    }

    /// Creates a task that resumes an upload and passes the response content to a completion handler on the delegate queue.
    ///
    /// Counterpart: macOS 14, iOS 17.
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(resuming: resumeData, .handler(completionHandler))
    }

    // MARK: Download tasks

    /// Creates a task that downloads a request's content to a file.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { makeDownloadTask(request, nil) }

    /// Creates a task that downloads a URL's content to a file.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask { makeDownloadTask(URLRequest(url: url), nil) }

    /// Creates a task that resumes a download. The task requests the rest of the content with `Range` and `If-Range`
    /// (RFC 9110 §13.1.5, §14.2). The task starts over if the content has changed, if the server sends no ranges, or if
    /// the file of the earlier download is missing. If the resume data is invalid, the task fails with
    /// `URLError.unsupportedURL`.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, nil)
    }

    /// Creates a task that downloads a request's content to a file. The file is removed when the completion handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, completionHandler)
    }

    /// Creates a task that downloads a URL's content to a file. The file is removed when the completion handler returns.
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), completionHandler)
    }

    /// Creates a task that resumes a download to a file. The file is removed when the completion handler returns.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, completionHandler)
    }

    // MARK: Stream and WebSocket tasks

    /// Creates a task for a TCP connection to a host. Resuming the task opens the connection. The connection uses the
    /// session's proxies, and only interfaces that the session permits.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    ///
    /// - Parameters:
    ///   - hostname: A name or an address, without brackets.
    ///   - port: 1 to 65,535. With other values the task fails with `URLError.badURL`.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        makeStreamTask(hostname, port)
    }

    /// Creates a task for a TCP connection to a Bonjour service. The service need not be resolved: when the task is
    /// resumed, it looks up the service and connects. The connection uses only interfaces that the session permits. It
    /// uses no proxies, because the service is on the local network.
    ///
    /// `startSecureConnection` authenticates the service's host name if the service was resolved before the task was
    /// created, otherwise the service name.
    ///
    /// Counterpart: macOS 10.11, iOS 9.
    ///
    /// - Parameter service: The service. If its name or type is invalid, or if the service does not use TCP, the task
    ///   fails with `URLError.badURL`.
    open func streamTask(with service: NetService) -> URLSessionStreamTask { makeStreamTask(service) }

    /// Creates a WebSocket task. The URL has the scheme `ws` or `wss`.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask { makeWebSocketTask(URLRequest(url: url)) }

    /// Creates a WebSocket task that offers subprotocols, the preferred one first.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        if !protocols.isEmpty {
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        }
        return makeWebSocketTask(request)
    }

    /// Creates a WebSocket task. The request's fields are sent with the handshake; `Sec-WebSocket-Protocol` offers subprotocols. The method
    /// is always GET.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask { makeWebSocketTask(request) }
}
