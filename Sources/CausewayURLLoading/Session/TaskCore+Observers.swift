internal import Foundation

extension TaskCore {
    /// Whether a delegate or an observer receives measurements of the task.
    var isMeasured: Bool { hasDelegate || !session.core.settings.observers.isEmpty }

    /// Notifies the observers that the task is about to start.
    func notifyObserversOfStart() {
        let observers = session.core.settings.observers
        guard !observers.isEmpty, let task else { return }
        let observations = observers.compactMap { $0.taskWillStart(task) }
        state.withLock { $0.observations = observations }
    }

    /// Adds the fields of the observers to the request.
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

    /// Lets the observers watch the task that takes over the load.
    func moveObservations(to other: TaskCore) {
        let observations = state.withLock { state in
            defer { state.observations = [] }
            return state.observations
        }
        other.state.withLock { $0.observations = observations }
    }

    /// Notifies the observers of the end of the task.
    func notifyObserversOfEnd(_ task: URLSessionTask, _ metrics: URLSessionTaskMetrics, _ error: (any Error)?) {
        let observations = state.withLock { state in
            defer { state.observations = [] }
            return state.observations
        }
        for observation in observations { observation.taskDidEnd(task, metrics: metrics, error: error) }
    }
}
