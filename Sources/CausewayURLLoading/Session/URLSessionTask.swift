public import Foundation

/// The load of one URL. Created suspended: call ``resume()``.
///
/// Counterpart: macOS 10.9, iOS 7.
// SAFETY: `core` is a constant, and the values of a task without a core are behind a lock. Subclasses of programs answer for their own
// properties.
@preconcurrency open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {
    /// The state of a task.
    public enum State: Int, Sendable {
        /// The task loads.
        case running = 0
        /// The task waits for ``URLSessionTask/resume()``.
        case suspended = 1
        /// The task was cancelled and ends soon.
        case canceling = 2
        /// The task has ended.
        case completed = 3
    }

    /// The core; `nil` for objects that a program creates, such as doubles in tests.
    let core: TaskCore?
    private let detached: DetachedTask?

    /// The priority of a new task: 0.5.
    public class var defaultPriority: Float { 0.5 }
    /// A low priority: 0.25.
    public class var lowPriority: Float { 0.25 }
    /// A high priority: 0.75.
    public class var highPriority: Float { 0.75 }

    /// Creates a task without a session, for subclasses in tests. It loads nothing.
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

    /// Returns the object.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The number of the task, unique in its session.
    open var taskIdentifier: Int { core?.identifier ?? 0 }

    /// The request that the task was created with.
    open var originalRequest: URLRequest? { core?.originalRequest }

    /// The request that is loaded now: it follows redirects.
    open var currentRequest: URLRequest? { core?.state.withLock { $0.currentRequest } }

    /// The response to ``currentRequest``, once it has arrived.
    open var response: URLResponse? { core?.state.withLock { $0.content.response } }

    /// The delegate of the task, which is asked before that of the session. Kept until the task ends. macOS 12, iOS 15.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { options.delegate?.task }
        set {
            guard state != .completed else { return }
            change { $0.delegate = DelegateViews(newValue) }
        }
    }

    /// The progress of the task. Cancelling, pausing and resuming it acts on the task. macOS 10.13, iOS 11.
    open var progress: Progress { core?.progress ?? detached?.progress ?? Progress(totalUnitCount: 1) }

    /// The earliest time at which a task of a background session starts. macOS 10.13, iOS 11.
    open var earliestBeginDate: Date? {
        get { options.earliestBeginDate }
        set { change { $0.earliestBeginDate = newValue } }
    }

    /// The number of bytes that the program expects to send. macOS 10.13, iOS 11.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { options.clientExpectsToSend }
        set { change { $0.clientExpectsToSend = newValue } }
    }

    /// The number of bytes that the program expects to receive. macOS 10.13, iOS 11.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { options.clientExpectsToReceive }
        set { change { $0.clientExpectsToReceive = newValue } }
    }

    /// Bytes of content that arrived.
    open var countOfBytesReceived: Int64 { counts.received }

    /// Bytes of content that were sent.
    open var countOfBytesSent: Int64 { counts.sent }

    /// Bytes of content to send; -1 if the number is not known.
    open var countOfBytesExpectedToSend: Int64 { counts.expectedToSend }

    /// Bytes of content to receive; -1 if the number is not known.
    open var countOfBytesExpectedToReceive: Int64 { counts.expectedToReceive }

    /// A text of the program.
    open var taskDescription: String? {
        get { options.description }
        set { change { $0.description = newValue } }
    }

    /// Ends the task with `URLError.cancelled`.
    open func cancel() { core?.cancel() }

    /// The state.
    open var state: State { core?.state.withLock { $0.life.state } ?? .suspended }

    /// Why the task failed; `nil` before the end and after success.
    open var error: (any Error)? { core?.state.withLock { $0.outcome.error } }

    /// Stops the task for the moment. Each call needs a call of ``resume()``.
    open func suspend() { core?.suspend() }

    /// Starts the task, or ends one suspension.
    open func resume() { core?.resume() }

    /// The priority, from 0 to 1: a hint. macOS 10.10, iOS 8.
    open var priority: Float {
        get { options.priority }
        set { change { $0.priority = min(max(newValue, 0), 1) } }
    }

    /// Whether content should be delivered piece by piece. Default `true`. macOS 11.3, iOS 14.5.
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
    }
}
