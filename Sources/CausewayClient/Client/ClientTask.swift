internal import CausewaySystem
public import Dispatch

extension HTTPClient {
    /// Creates a task for programs with completion handlers. The task starts with ``ClientTask/resume()``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - serializer: Checks the response and makes the value.
    ///   - queue: The completion handler's queue.
    ///   - completion: Called once, also after a cancellation.
    public func task<Value: Sendable>(
        _ request: ClientRequest, as serializer: ResponseSerializer<Value>, queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<ClientResponse<Value>, any Error>) -> Void
    ) -> ClientTask {
        ClientTask { isCancelled in
            let result: Result<ClientResponse<Value>, any Error>
            do {
                if isCancelled { throw CancellationError() }
                result = .success(try await self.send(request, as: serializer))
            } catch {
                result = .failure(error)
            }
            return { end in
                queue.async {
                    end()
                    completion(result)
                }
            }
        }
    }
}

/// A request with a completion handler. It can be resumed and cancelled from any thread.
public final class ClientTask: Sendable {
    /// A task's state.
    public enum State: Sendable {
        /// The task has not been resumed.
        case suspended
        /// The request is running.
        case running
        /// The task was cancelled; its completion handler has not been called yet.
        case cancelled
        /// The completion handler has been called, or is about to be called.
        case completed
    }

    private struct Life {
        var state = State.suspended
        var task: Task<Void, Never>?
    }

    /// Performs the request, unless it was already cancelled. Returns a closure that calls the completion handler.
    typealias Work = @Sendable (_ isCancelled: Bool) async -> @Sendable (@escaping @Sendable () -> Void) -> Void

    private let work: Work
    private let life = LockedValue(Life())

    init(_ work: @escaping Work) { self.work = work }

    /// The task's state.
    public var state: State { life.withLock { $0.state } }

    /// Starts the request. Later calls have no effect.
    public func resume() {
        let mustStart = life.withLock { life in
            guard life.state == .suspended else { return false }
            life.state = .running
            return true
        }
        if mustStart { start(isCancelled: false) }
    }

    /// Cancels the request. The completion handler gets `CancellationError`, also if the task was not resumed.
    public func cancel() {
        let (task, mustStart) = life.withLock { life -> (Task<Void, Never>?, Bool) in
            let wasSuspended = life.state == .suspended
            guard wasSuspended || life.state == .running else { return (nil, false) }
            life.state = .cancelled
            return (life.task, wasSuspended)
        }
        task?.cancel()
        if mustStart { start(isCancelled: true) }
    }

    /// Runs the request in an unstructured task, because the caller does not wait for it.
    private func start(isCancelled: Bool) {
        let task = Task { [self] in
            let complete = await work(isCancelled)
            complete { self.life.withLock { $0.state = .completed } }
        }
        let wasCancelled = life.withLock { life in
            life.task = task
            return life.state == .cancelled
        }
        if wasCancelled { task.cancel() }
    }
}
