internal import CausewaySystem
internal import CausewayURLLoading
internal import Foundation

/// A response head.
struct ResponseHead: Sendable {
    var status = 200
    var url: URL?
    /// The header fields, by name in lower case.
    var fields: [String: String] = [:]

    init(status: Int = 200, url: URL? = nil, fields: [String: String] = [:]) {
        self.status = status
        self.url = url
        self.fields = fields
    }

    init(_ response: URLResponse) {
        url = response.url
        guard let response = response as? HTTPURLResponse else { return }
        status = response.statusCode
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { fields[name.lowercased()] = value }
        }
    }
}

/// Receives a response as it arrives.
struct FetchSink: Sendable {
    /// Receives the head. Returns whether to load the content.
    let head: @Sendable (ResponseHead) -> Bool
    /// Receives a piece of the content. Returns whether the transfer should continue.
    let piece: @Sendable (Data) -> Bool
}

/// A function that sends a request and passes the response to a ``FetchSink``. Throws if the transfer fails. It is no
/// error if the sink stops the transfer. Tests can supply another function.
typealias ImageFetch = @Sendable (URLRequest, FetchSink) async throws -> Void

/// One fetch through a session.
final class SessionFetch: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var isStopped = false
        /// The result of a task that ended before the caller began to wait for it, for example after a cancellation.
        var end: Result<Void, any Error>?
    }

    private let sink: FetchSink
    private let state = LockedValue(State())

    init(_ sink: FetchSink) { self.sink = sink }

    /// Returns a function that fetches through a session.
    static func by(_ session: URLSession) -> ImageFetch {
        { request, sink in try await SessionFetch(sink).run(session.dataTask(with: request)) }
    }

    /// Runs a session task.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    func run(_ task: URLSessionTask) async throws {
        task.delegate = self
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let end = state.withLock { state in
                    state.continuation = state.end == nil ? continuation : nil
                    return state.end
                }
                if let end { return continuation.resume(with: end) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let isWanted = sink.head(ResponseHead(response))
        if !isWanted { state.withLock { $0.isStopped = true } }
        completionHandler(isWanted ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !state.withLock({ $0.isStopped }), !sink.piece(data) else { return }
        state.withLock { $0.isStopped = true }
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, end) = state.withLock { state in
            let end: Result<Void, any Error> = if let error, !state.isStopped { .failure(error) } else { .success(()) }
            state.end = end
            defer { state.continuation = nil }
            return (state.continuation, end)
        }
        continuation?.resume(with: end)
    }
}
