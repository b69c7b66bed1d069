internal import CausewayURLLoading
internal import Foundation

/// A task's request, as logs, metrics and traces show it. The URL's query, user and password are left out, because they
/// can be secrets.
struct TaskFacts {
    let method: String
    let scheme: String
    let host: String
    let port: Int?
    let path: String

    init(_ task: URLSessionTask) {
        let request = task.originalRequest
        let url = request?.url
        method = request?.httpMethod ?? "GET"
        scheme = url?.scheme?.lowercased() ?? ""
        host = url?.host ?? ""
        port = url?.port ?? ["http": 80, "https": 443, "ws": 80, "wss": 443][scheme]
        path = url?.path ?? ""
    }
}

/// A task's result, as logs, metrics and traces show it.
struct TaskResult {
    let status: Int?
    /// The kind of failure: the status if it is 400 or higher, or the error's code; `nil` after success.
    let failure: String?
    /// The protocol version, such as `1.1` or `2`; `nil` if nothing came from the network.
    let version: String?
    let duration: Duration
    let sent: Int64
    let received: Int64
    let redirects: Int
    /// The number of network transactions, including those for redirects and challenges.
    let exchanges: Int

    var nanoseconds: Int64 {
        let (seconds, rest) = duration.components
        return seconds * 1_000_000_000 + rest / 1_000_000_000
    }

    init(_ task: URLSessionTask, _ metrics: URLSessionTaskMetrics, _ error: (any Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode
        self.status = status
        if let error {
            failure = (error as? URLError).map { "URLError.\($0.code.rawValue)" } ?? "\(type(of: error))"
        } else {
            failure = status.flatMap { $0 >= 400 ? "\($0)" : nil }
        }
        let names = ["http/1.0": "1.0", "http/1.1": "1.1", "h2": "2"]
        version = metrics.transactionMetrics.last?.networkProtocolName.map { names[$0] ?? $0 }
        duration = .seconds(metrics.taskInterval.duration)
        sent = task.countOfBytesSent
        received = task.countOfBytesReceived
        redirects = metrics.redirectCount
        exchanges = metrics.transactionMetrics.count { $0.resourceFetchType == .networkLoad }
    }
}
