internal import Foundation

extension TaskCore {
    /// Whether a delegate or an observer receives the task's metrics.
    var isMeasured: Bool { hasDelegate || !session.core.settings.observers.isEmpty }

    /// Notifies the observers before the task starts.
    func notifyObserversOfStart() {
        let observers = session.core.settings.observers
        guard !observers.isEmpty, let task else { return }
        let observations = observers.compactMap { $0.taskWillStart(task) }
        state.withLock { $0.observations = observations }
    }

    /// Adds the observers' fields to the request.
    func observed(_ request: URLRequest) -> URLRequest {
        guard !session.core.settings.observers.isEmpty else { return request }
        let observations = state.withLock { $0.observations }
        guard !observations.isEmpty else { return request }
        var request = request
        for (name, value) in observations.flatMap(\.requestFields)
        where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Moves this task's progress observations to another task, which takes over the load.
    func moveObservations(to other: TaskCore) {
        let observations = state.withLock { state in
            defer { state.observations = [] }
            return state.observations
        }
        other.state.withLock { $0.observations = observations }
    }

    /// Notifies the observers of the task's end.
    func notifyObserversOfEnd(_ task: URLSessionTask, _ metrics: URLSessionTaskMetrics, _ error: (any Error)?) {
        let observations = state.withLock { state in
            defer { state.observations = [] }
            return state.observations
        }
        for observation in observations { observation.taskDidEnd(task, metrics: metrics, error: error) }
    }
}
