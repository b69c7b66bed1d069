/// Observes the tasks in sessions, for logs, metrics and traces. An observer sees all tasks: tasks with completion
/// handlers, tasks with delegates, and tasks of `async` functions.
///
/// Set observers with ``URLSessionConfiguration/taskObservers``. The product `CausewayObservability` has observers for swift-log,
/// swift-metrics and swift-distributed-tracing.
///
/// An addition: Apple's API has no counterpart.
public protocol URLSessionTaskObserver: Sendable {
    /// Called when a task is about to start, on the thread of its first `resume()`, before anything is sent.
    ///
    /// This is the program's thread, so the current Swift task-local values are available. The call must not block.
    ///
    /// - Returns: The observation of this task; `nil` if the observer is not interested in it.
    func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)?
}

/// Observes one task.
public protocol URLSessionTaskObservation: Sendable {
    /// Header fields that are added to the request, such as `traceparent`. A field that the request already has is not replaced.
    var requestFields: [String: String] { get }

    /// Called once when the task has ended, before the task's final callback.
    ///
    /// The method runs on the delegate queue. For a task of an `async` function without a delegate, it runs on a thread
    /// of this library, so it must not block.
    ///
    /// - Parameters:
    ///   - task: The task. Its response and byte counts are final.
    ///   - metrics: The task's metrics.
    ///   - error: The error with which the task ended; `nil` after a complete response of any status.
    func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?)
}

extension URLSessionTaskObservation {
    /// Default implementation: returns no fields.
    public var requestFields: [String: String] { [:] }
}

extension URLSessionConfiguration {
    /// The observers for the session's tasks, in the order in which they are called. The default is none.
    ///
    /// An addition: Apple's API has no counterpart.
    public var taskObservers: [any URLSessionTaskObserver] {
        get { settings.observers }
        set { settings.observers = newValue }
    }
}
