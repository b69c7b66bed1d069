public import CausewayURLLoading
public import Logging

/// Logs each task of a session when it ends, with the method, host, path, status, duration and byte counts as metadata.
///
/// The URL's query, user and password, and all header fields are left out, because they can be secrets.
///
/// An addition: Apple's API has no counterpart.
public struct URLSessionLogObserver: URLSessionTaskObserver {
    private let logger: Logger
    private let level: Logger.Level
    private let failureLevel: Logger.Level

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - logger: The logger that receives the messages.
    ///   - level: The level of tasks that end with a response below status 400.
    ///   - failureLevel: The level of all other tasks.
    public init(logger: Logger, level: Logger.Level = .debug, failureLevel: Logger.Level = .notice) {
        self.logger = logger
        self.level = level
        self.failureLevel = failureLevel
    }

    public func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? {
        Observation(observer: self, facts: TaskFacts(task))
    }

    private struct Observation: URLSessionTaskObservation {
        let observer: URLSessionLogObserver
        let facts: TaskFacts

        func taskDidEnd(_ task: URLSessionTask, metrics: URLSessionTaskMetrics, error: (any Error)?) {
            let result = TaskResult(task, metrics, error)
            let level = result.failure == nil ? observer.level : observer.failureLevel
            guard observer.logger.logLevel <= level else { return }
            var metadata: Logger.Metadata = [
                "http.request.method": "\(facts.method)", "server.address": "\(facts.host)",
                "url.path": "\(facts.path)", "duration": "\(result.duration)", "bytes.sent": "\(result.sent)",
                "bytes.received": "\(result.received)",
            ]
            if let port = facts.port { metadata["server.port"] = "\(port)" }
            if let status = result.status { metadata["http.response.status_code"] = "\(status)" }
            if let version = result.version { metadata["network.protocol.version"] = "\(version)" }
            if result.redirects > 0 { metadata["redirects"] = "\(result.redirects)" }
            if let error { metadata["error"] = "\(error)" }
            if let failure = result.failure { metadata["error.type"] = "\(failure)" }
            let outcome = error == nil ? result.status.map { "\($0)" } ?? "ended" : "failed"
            observer.logger.log(
                level: level, "\(facts.method) \(facts.host)\(facts.path): \(outcome)", metadata: metadata)
        }
    }
}
