internal import CausewaySystem
public import Foundation

/// Loads one request into a file. This class is for existing programs; use ``URLSessionDownloadTask`` in new programs.
///
/// The delegate is called in the creating thread's run loop, and is retained until the final callback.
///
/// Counterpart: macOS 10.2.
// SAFETY: the stored properties are constants, and locks guard their state. Subclasses outside this module must make their own properties
// thread-safe.
@preconcurrency open class NSURLDownload: NSObject, @unchecked Sendable {
    private struct State {
        var destination: String?
        var allowsOverwriting = false
        var deletesUponFailure = true
        var task: URLSessionDataTask?
        var path: String?
    }

    private let first: URLRequest
    private let state = LockedValue(State())
    /// The open file. It is written while this value is locked: a cancellation on another thread must not close its
    /// descriptor meanwhile, because the descriptor could then belong to another file.
    private let file = LockedValue<FileHandle?>(nil)
    let events: ConnectionEvents<any NSURLDownloadDelegate>

    /// Returns whether a download with the given encoding can be resumed: always `false`.
    open class func canResumeDownloadDecoded(withEncodingMIMEType type: String) -> Bool { false }

    /// Creates a download and starts it in the current run loop.
    public init(request: URLRequest, delegate: (any NSURLDownloadDelegate)?) {
        first = request
        events = ConnectionEvents(delegate ?? NoDownloadDelegate())
        super.init()
        start(failure: nil)
    }

    /// Creates a download with the request of an earlier download. The download starts from the beginning.
    public init(resumeData: Data, delegate: (any NSURLDownloadDelegate)?, path: String) {
        let parsed = ResumeData(resumeData)
        let empty = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        first = parsed?.request ?? URLRequest(values: empty)
        events = ConnectionEvents(delegate ?? NoDownloadDelegate())
        super.init()
        setDestination(path, allowOverwrite: true)
        start(failure: parsed == nil ? LoadFailure(.fileNotOpened) : nil)
    }

    private func start(failure: LoadFailure?) {
        events.schedule(in: .current, .default)
        if let failure { return end(failure.urlError(for: nil)) }
        events.add { [self] delegate in
            delegate.downloadDidBegin(self)
            guard let request = delegate.download(self, willSend: first, redirectResponse: nil) else { return cancel() }
            let usesCredentials = delegate.downloadShouldUseCredentialStorage(self)
            let made = NSURLConnection.session(usingCredentials: usesCredentials).dataTask(with: request)
            made.delegate = DownloadAdapter(self)
            state.withLock { $0.task = made }
            // The delegate or another thread may have cancelled the download before `task` was set. That cancellation
            // did not reach the task. So cancel the task here.
            if events.hasEnded { made.cancel() } else { made.resume() }
        }
    }

    /// Cancels the download. Removes the file unless ``deletesFileUponFailure`` is `false`. The delegate is not called any more.
    open func cancel() {
        events.end()
        state.withLock { $0.task }?.cancel()
        abandonFile()
    }

    /// Sets the file's path. This has no effect after the file has been created.
    open func setDestination(_ path: String, allowOverwrite: Bool) {
        state.withLock { state in
            guard state.path == nil else { return }
            state.destination = path
            state.allowsOverwriting = allowOverwrite
        }
    }

    /// The request passed to the initializer.
    open var request: URLRequest { first }

    /// The download's resume data: always `nil`.
    open var resumeData: Data? { nil }

    /// Whether the file is removed if the download fails. The default is `true`.
    open var deletesFileUponFailure: Bool {
        get { state.withLock { $0.deletesUponFailure } }
        set { state.withLock { $0.deletesUponFailure = newValue } }
    }

    // MARK: Callbacks from the adapter

    /// Asks the delegate for the destination and creates the file.
    func received(_ response: URLResponse, _ delegate: any NSURLDownloadDelegate) throws(LoadFailure) {
        delegate.download(self, didReceive: response)
        let name = response.suggestedFilename ?? SuggestedFilename.unknown
        if state.withLock({ $0.destination == nil }) {
            delegate.download(self, decideDestinationWithSuggestedFilename: name)
        }
        // Create no file if the delegate has cancelled the download.
        guard !events.hasEnded else { return }
        let (chosen, overwrites) = state.withLock { ($0.destination, $0.allowsOverwriting) }
        let wanted = chosen ?? FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        let path = overwrites ? wanted : Self.unused(wanted)
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw LoadFailure(.fileNotCreated) }
        guard let handle = FileHandle(forWritingAtPath: path) else { throw LoadFailure(.fileNotOpened) }
        state.withLock { $0.path = path }
        file.withLock { $0 = handle }
        // Another thread may have cancelled the download before the file was stored in the state. In that case, the
        // cancellation found no file to close. So close it here.
        guard !events.hasEnded else { return abandonFile() }
        delegate.download(self, didCreateDestination: path)
    }

    func received(_ data: Data, _ delegate: any NSURLDownloadDelegate) throws(LoadFailure) {
        do {
            _ = try file.withLock { try $0?.write(contentsOf: data) }
        } catch {
            throw LoadFailure(.fileNotWritten, underlying: error)
        }
        delegate.download(self, didReceiveDataOfLength: data.count)
    }

    /// Delivers the final callback.
    func end(_ error: (any Error)?) {
        events.addLast { [self] delegate in
            // The system can report only now that content could not be written, for example because a disk is full.
            let closing = closeFile().failure
            guard let error = error ?? closing?.urlError(for: first.url) else {
                return delegate.downloadDidFinish(self)
            }
            removeFailedFile()
            delegate.download(self, didFailWithError: error)
        }
    }

    /// Closes the file of a download that was cancelled, and removes it unless the program keeps it. A download that has
    /// finished has no open file any more, and its file stays.
    private func abandonFile() {
        if closeFile().wasOpen { removeFailedFile() }
    }

    /// Closes the file. Returns whether this call closed it, and the failure; `nil` if there is none.
    private func closeFile() -> (wasOpen: Bool, failure: LoadFailure?) {
        file.withLock { handle -> (wasOpen: Bool, failure: LoadFailure?) in
            let wasOpen = handle != nil
            defer { handle = nil }
            do {
                try handle?.close()
                return (wasOpen, nil)
            } catch {
                return (wasOpen, LoadFailure(.fileNotClosed, underlying: error))
            }
        }
    }

    private func removeFailedFile() {
        guard deletesFileUponFailure, let path = state.withLock({ $0.path }) else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns a path at which no file exists, such as `name-1.txt` for `name.txt`.
    private static func unused(_ path: String) -> String {
        guard FileManager.default.fileExists(atPath: path) else { return path }
        let url = URL(fileURLWithPath: path)
        let base = url.deletingPathExtension().path
        let end = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return (1...).lazy.map { "\(base)-\($0)\(end)" }.first { !FileManager.default.fileExists(atPath: $0) } ?? path
    }
}

/// The default delegate for a download if the program supplies none.
private final class NoDownloadDelegate: NSObject, NSURLDownloadDelegate {}
