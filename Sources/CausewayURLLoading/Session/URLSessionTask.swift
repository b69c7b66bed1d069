public import Foundation

/// Loads one URL. A task is created suspended; call ``resume()`` to start it.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: `core` is a constant, and a lock guards the values of a task without a core. Subclasses outside this module must make their own
// properties thread-safe.
@preconcurrency open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    /// The state of a task.
    public enum State: Int, Sendable {
        /// The task is running.
        case running = 0
        /// The task is suspended until ``URLSessionTask/resume()`` is called.
        case suspended = 1
        /// The task was cancelled but has not completed yet.
        case canceling = 2
        /// The task has completed.
        case completed = 3
    }

    /// The task's implementation; `nil` if the program created the object directly, for example as a test double.
    let core: TaskCore?
    private let detached: DetachedTask?

    /// The default priority: 0.5.
    public class var defaultPriority: Float { 0.5 }
    /// A low priority: 0.25.
    public class var lowPriority: Float { 0.25 }
    /// A high priority: 0.75.
    public class var highPriority: Float { 0.75 }

    /// Creates a task without a session, for subclasses in tests. The task loads nothing.
    public override init() {
        core = nil
        detached = DetachedTask()
        super.init()
    }

    init(core: TaskCore) {
        self.core = core
        detached = nil
        super.init()
        core.attach(self)
    }

    /// Returns this object. No copy is made.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The task's identifier, unique within its session.
    open var taskIdentifier: Int { core?.identifier ?? 0 }

    /// The task's first request.
    open var originalRequest: URLRequest? { core?.originalRequest }

    /// The currently loaded request. It changes when a redirect is followed.
    open var currentRequest: URLRequest? { core?.state.withLock { $0.currentRequest } }

    /// The response to ``currentRequest``; `nil` until it arrives.
    open var response: URLResponse? { core?.state.withLock { $0.content.response } }

    /// The task-specific delegate. Background session tasks do not have one. The session calls this delegate before its
    /// own delegate, and this delegate is retained until the task completes. If another task replaces a data task, the
    /// new task takes over the delegate.
    ///
    /// Counterpart: macOS 12, iOS 15.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { options.delegate?.task }
        set {
            guard state != .completed, core?.session.core.isBackground != true else { return }
            // The callbacks of an `async` function without a delegate run on any thread. They are moved to the delegate
            // queue before the delegate is set, so that none of them calls the delegate on another thread.
            if newValue != nil { core?.callOnDelegateQueue() }
            let old = options.delegate
            change { $0.delegate = DelegateViews(newValue) }
            // Release the old delegate outside the lock, because its deinitializer can use the task.
            withExtendedLifetime(old) {}
        }
    }

    /// The task's progress. Cancelling, pausing or resuming the progress cancels, suspends or resumes the task.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    open var progress: Progress { core?.progress ?? detached?.progress ?? Progress(totalUnitCount: 1) }

    /// The earliest time at which a background session task starts.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    open var earliestBeginDate: Date? {
        get { options.earliestBeginDate }
        set { change { $0.earliestBeginDate = newValue } }
    }

    /// The number of bytes that the program expects to send. Has no effect.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { options.clientExpectsToSend }
        set { change { $0.clientExpectsToSend = newValue } }
    }

    /// The number of bytes that the program expects to receive. Has no effect.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { options.clientExpectsToReceive }
        set { change { $0.clientExpectsToReceive = newValue } }
    }

    /// The number of content bytes received.
    open var countOfBytesReceived: Int64 { counts.received }

    /// The number of body bytes sent.
    open var countOfBytesSent: Int64 { counts.sent }

    /// The number of body bytes that the task expects to send; -1 if it is not known.
    open var countOfBytesExpectedToSend: Int64 { counts.expectedToSend }

    /// The number of content bytes that the task expects to receive; -1 if it is not known.
    open var countOfBytesExpectedToReceive: Int64 { counts.expectedToReceive }

    /// An application-defined description.
    open var taskDescription: String? {
        get { options.description }
        set { change { $0.description = newValue } }
    }

    /// Cancels the task. It completes with `URLError.cancelled`.
    open func cancel() { core?.cancel() }

    /// The task's state.
    open var state: State { core?.state.withLock { $0.life.state } ?? .suspended }

    /// The error with which the task failed; `nil` before the task completes and if it succeeded.
    open var error: (any Error)? { core?.state.withLock { $0.outcome.error } }

    /// Suspends the task. Balance each call with a call to ``resume()``.
    open func suspend() { core?.suspend() }

    /// Starts the task, or undoes one call to ``suspend()``.
    open func resume() { core?.resume() }

    /// The task's priority, from 0 to 1. A change also applies to a running task: to its order among the requests that wait for a connection,
    /// and over HTTP/2 to its urgency at the server (RFC 9218 §7.1).
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open var priority: Float {
        get { options.priority }
        set {
            change { $0.priority = min(max(newValue, 0), 1) }
            core?.priorityChanged()
        }
    }

    /// Whether the content should be delivered incrementally. The default is `true`; for downloads and with a completion handler it is
    /// `false`. Has no effect.
    ///
    /// Counterpart: macOS 11.3, iOS 14.5.
    open var prefersIncrementalDelivery: Bool {
        get { options.prefersIncrementalDelivery }
        set { change { $0.prefersIncrementalDelivery = newValue } }
    }

    private var options: TaskState.Options {
        core?.state.withLock { $0.options } ?? detached?.options ?? TaskState.Options()
    }

    private var counts: TaskState.Counts { core?.state.withLock { $0.counts } ?? TaskState.Counts() }

    private func change(_ body: @Sendable (inout TaskState.Options) -> Void) {
        guard let core else { return detached?.change(body) ?? () }
        core.state.withLock { body(&$0.options) }
        core.plan.transfer?.noteOptions(of: core)
    }
}
