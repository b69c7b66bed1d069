internal import Causeway
public import Foundation

/// Creates the tasks that load URLs, and holds what they share: settings, delegate, cache, cookies and credentials.
///
/// A session keeps its delegate until it becomes invalid: call ``finishTasksAndInvalidate()`` or ``invalidateAndCancel()``. Loading works
/// for `data:` and `file:` URLs and for the ``URLProtocol`` classes of the program; other URLs fail with `URLError.unsupportedURL`.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: the stored property of this class is a constant. Subclasses of programs answer for their own.
@preconcurrency open class URLSession: NSObject, @unchecked Sendable {
    /// Takes the result of a data task.
    typealias DataHandler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    /// Takes the result of a download task.
    typealias FileHandler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    private static let sharedSession = URLSession(
        core: SessionCore(URLSessionConfiguration.default.settings, delegate: nil, queue: nil, isShared: true))
    let core: SessionCore

    /// The session of the process: default settings, no delegate, cannot be invalidated.
    open class var shared: URLSession { sharedSession }

    /// Creates a session with default settings. For subclasses in tests.
    public override init() {
        core = SessionCore(URLSessionConfiguration.default.settings, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session without a delegate.
    public init(configuration: URLSessionConfiguration) {
        core = SessionCore(configuration.settings, delegate: nil, queue: nil, isShared: false)
        super.init()
    }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - delegate: Kept until the session becomes invalid.
    ///   - queue: Where the delegate and completion handlers are called. It should be serial. `nil` creates a serial queue.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        core = SessionCore(configuration.settings, delegate: delegate, queue: queue, isShared: false)
        super.init()
    }

    init(core: SessionCore) {
        self.core = core
        super.init()
    }

    /// Where the delegate and completion handlers are called.
    open var delegateQueue: OperationQueue { core.queue }

    /// The delegate; `nil` after the session became invalid.
    open var delegate: (any URLSessionDelegate)? { core.delegate?.session }

    /// A copy of the settings.
    open var configuration: URLSessionConfiguration { URLSessionConfiguration(core.settings) }

    /// A text of the program.
    open var sessionDescription: String? {
        get { core.sessionDescription }
        set { core.sessionDescription = newValue }
    }

    /// Makes the session invalid after its tasks have ended. Without effect on the shared session.
    open func finishTasksAndInvalidate() { core.invalidate(self, cancelsTasks: false) }

    /// Cancels all tasks and makes the session invalid. Without effect on the shared session.
    open func invalidateAndCancel() { core.invalidate(self, cancelsTasks: true) }

    /// Removes all cookies, stored responses and credentials. The handler is called on the delegate queue.
    open func reset(completionHandler: @escaping @Sendable () -> Void) {
        let stores = core.settings.stores
        stores.cache?.removeAllCachedResponses()
        stores.cookies?.removeCookies(since: .distantPast)
        stores.credentials?.removeAll()
        core.queue.addOperation(completionHandler)
    }

    /// Writes stored values to disk, and uses new connections from now on. The handler is called on the delegate queue.
    open func flush(completionHandler: @escaping @Sendable () -> Void) {
        core.queue.addOperation(completionHandler)
    }

    /// Passes the data, upload and download tasks that have not ended to a handler, on the delegate queue.
    open func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) -> Void
    ) {
        core.queue.addOperation { [core] in
            let tasks = core.tasks
            let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
            let data = tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
            completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
        }
    }

    /// Passes all tasks that have not ended to a handler, on the delegate queue. macOS 10.11, iOS 9.
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        core.queue.addOperation { [core] in completionHandler(core.tasks) }
    }

    // MARK: Data tasks

    /// Creates a task that loads a request.
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { makeDataTask(request, .delegate) }

    /// Creates a task that loads a URL.
    open func dataTask(with url: URL) -> URLSessionDataTask { makeDataTask(URLRequest(url: url), .delegate) }

    /// Creates a task that loads a request and passes the content to a handler, on the delegate queue.
    open func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(request, .handler(completionHandler))
    }

    /// Creates a task that loads a URL and passes the content to a handler, on the delegate queue.
    open func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        makeDataTask(URLRequest(url: url), .handler(completionHandler))
    }

    // MARK: Upload tasks

    /// Creates a task that sends a file.
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL), .delegate)
    }

    /// Creates a task that sends data.
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData), .delegate)
    }

    /// Creates a task that continues an upload. Not supported: the task fails. macOS 14, iOS 17.
    open func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        makeUploadTask(nil, .request, .delegate, failure: LoadFailure(.fileNotOpened))
    }

    /// Creates a task that sends a stream, which the delegate supplies.
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        makeUploadTask(request, .stream, .delegate)
    }

    /// Creates a task that sends a file and passes the content of the response to a handler, on the delegate queue.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .file(fileURL), .handler(completionHandler))
    }

    /// Creates a task that sends data and passes the content of the response to a handler, on the delegate queue.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, .data(bodyData ?? Data()), .handler(completionHandler))
    }

    /// Creates a task that continues an upload. Not supported: the task fails. macOS 14, iOS 17.
    open func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(nil, .request, .handler(completionHandler), failure: LoadFailure(.fileNotOpened))
    }

    // MARK: Download tasks

    /// Creates a task that loads a request into a file.
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { makeDownloadTask(request, nil) }

    /// Creates a task that loads a URL into a file.
    open func downloadTask(with url: URL) -> URLSessionDownloadTask { makeDownloadTask(URLRequest(url: url), nil) }

    /// Creates a task that continues a download. It begins again if the loader cannot continue; data that is not valid gives a task that
    /// fails.
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, nil)
    }

    /// Creates a task that loads a request into a file, which exists until the handler returns.
    open func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(request, completionHandler)
    }

    /// Creates a task that loads a URL into a file, which exists until the handler returns.
    open func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(URLRequest(url: url), completionHandler)
    }

    /// Creates a task that continues a download into a file, which exists until the handler returns.
    open func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        makeDownloadTask(resuming: resumeData, completionHandler)
    }

    // MARK: Stream and WebSocket tasks

    /// Creates a task for a TCP connection. Not supported: the task fails. macOS 10.11, iOS 9.
    open func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask { makeStreamTask() }

    /// Creates a task for a WebSocket. Not supported: the task fails. macOS 10.15, iOS 13.
    open func webSocketTask(with url: URL) -> URLSessionWebSocketTask { makeWebSocketTask(URLRequest(url: url)) }

    /// Creates a task for a WebSocket with subprotocols. Not supported: the task fails. macOS 10.15, iOS 13.
    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask {
        var request = URLRequest(url: url)
        request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
        return makeWebSocketTask(request)
    }

    /// Creates a task for a WebSocket. Not supported: the task fails. macOS 10.15, iOS 13.
    open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask { makeWebSocketTask(request) }
}
