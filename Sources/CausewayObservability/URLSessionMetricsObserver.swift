public import CausewayURLLoading
public import CoreMetrics
internal import Foundation
internal import Synchronization

/// Counts and times the tasks of a session, under the names of OpenTelemetry's HTTP metrics.
///
/// | name | kind | dimensions |
/// |---|---|---|
/// | `http.client.request.duration` | timer | method, host, port, status, protocol version, kind of error |
/// | `http.client.request.body.size`, `http.client.response.body.size` | recorder, in bytes | the same |
/// | `http.client.active_requests` | meter | none |
///
/// An addition: Apple's API has no counterpart.
public struct URLSessionMetricsObserver: URLSessionTaskObserver {
    private let factory: any MetricsFactory
    private let active: ActiveTasks

    /// Creates an observer.
    ///
    /// - Parameter factory: The backend; `nil` for the backend with which the program has bootstrapped `MetricsSystem`.
    public init(factory: (any MetricsFactory)? = nil) {
        let factory = factory ?? MetricsSystem.factory
        self.factory = factory
        active = ActiveTasks(Meter(label: "http.client.active_requests", factory: factory))
    }

    public func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? {
        active.add(1)
        return Observation(observer: self, facts: TaskFacts(task))
    }

    /// Counts the tasks that have started and not ended.
    private final class ActiveTasks: Sendable {
        private let count = Mutex(0)
        private let meter: Meter

        init(_ meter: Meter) { self.meter = meter }

        func add(_ difference: Int) {
            // Set the meter while the lock of the count is held. Otherwise a slower thread could overwrite a newer
            // count with an older one.
            count.withLock { count in
                count += difference
                meter.set(count)
            }
        }
    }

    private struct Observation: URLSessionTaskObservation {
        let observer: URLSessionMetricsObserver
        let facts: TaskFacts

        func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?) {
            observer.active.add(-1)
            let result = TaskResult(task, metrics, error)
            let dimensions = dimensions(result)
            let timer = Timer(
                label: "http.client.request.duration", dimensions: dimensions, preferredDisplayUnit: .seconds,
                factory: observer.factory)
            timer.recordNanoseconds(result.nanoseconds)
            recorder("http.client.request.body.size", dimensions).record(result.sent)
            recorder("http.client.response.body.size", dimensions).record(result.received)
        }

        private func recorder(_ label: String, _ dimensions: [(String, String)]) -> Recorder {
            Recorder(label: label, dimensions: dimensions, aggregate: true, factory: observer.factory)
        }

        /// Returns the dimensions of a measurement. A metrics system keeps one time series for each combination of
        /// their values. To limit the number of time series, the path is left out, and every method that is not well
        /// known becomes `_OTHER`.
        private func dimensions(_ result: TaskResult) -> [(String, String)] {
            let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]
            var dimensions = [
                ("http.request.method", known.contains(facts.method) ? facts.method : "_OTHER"),
                ("server.address", facts.host), ("url.scheme", facts.scheme),
            ]
            if let port = facts.port { dimensions.append(("server.port", "\(port)")) }
            if let status = result.status { dimensions.append(("http.response.status_code", "\(status)")) }
            if let version = result.version { dimensions.append(("network.protocol.version", version)) }
            if let failure = result.failure { dimensions.append(("error.type", failure)) }
            return dimensions
        }
    }
}
