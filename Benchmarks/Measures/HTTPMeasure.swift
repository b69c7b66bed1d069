import CausewayHTTP
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Sends requests with the HTTP engine, without the URL loading system.
public enum HTTPMeasure {
    /// Loads a URL over and over without tasks: the end of a response starts the next request.
    ///
    /// - Parameter concurrency: The number of requests that are in progress at the same time.
    /// - Returns: The number of failed requests.
    ///
    /// Cancellation: has no effect.
    public static func getWithoutTasks(_ url: String, times: Int, concurrency: Int) async -> Int {
        let engine = makeEngine(concurrency)
        guard let request = HTTPRequestValue(uri: url) else { return times }
        let count = Count(times)
        await withCheckedContinuation { continuation in
            count.whenDone { continuation.resume() }
            for _ in 0..<concurrency { Repeater(request, engine, count).next() }
        }
        engine.shutDown()
        return count.failures
    }

    /// Sends the same request again and again. Each request starts when the previous response has ended.
    private final class Repeater: HTTPResponseObserver {
        private let request: HTTPRequestValue
        private let engine: HTTPEngine
        private let count: Count

        init(_ request: HTTPRequestValue, _ engine: HTTPEngine, _ count: Count) {
            self.request = request
            self.engine = engine
            self.count = count
        }

        func next() {
            if count.takesNext() { _ = engine.start(request, body: .none, observer: self) }
        }

        func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {}
        func received(_ content: Data) {}

        func ended(_ result: Result<FieldSection, HTTPFailure>) {
            if case .failure = result { count.failed() }
            next()
            count.finished()
        }
    }

    /// Loads a URL over and over with tasks.
    ///
    /// - Parameter concurrency: The number of requests that are in progress at the same time.
    /// - Returns: The number of failed requests.
    ///
    /// Cancellation: has no effect.
    public static func get(_ url: String, times: Int, concurrency: Int) async -> Int {
        let engine = makeEngine(concurrency)
        let count = Count(times)
        await withTaskGroup { group in
            for _ in 0..<concurrency {
                group.addTask {
                    while count.takesNext() {
                        if await !get(url, engine) { count.failed() }
                    }
                }
            }
        }
        return count.failures
    }

    private static func makeEngine(_ concurrency: Int) -> HTTPEngine {
        var configuration = HTTPEngine.Configuration()
        configuration.limits.connectionsPerKey = max(concurrency, 1)
        return HTTPEngine(configuration)
    }

    /// Counts the requests that must still be sent, the requests that are not finished, and the failures.
    private final class Count: Sendable {
        private struct State {
            var left: Int
            var unfinished: Int
            var failures = 0
            var whenDone: (@Sendable () -> Void)?
        }

        private let state: LockedValue<State>

        init(_ times: Int) { state = LockedValue(State(left: times, unfinished: times)) }

        /// Sets the closure that runs when all requests have finished.
        func whenDone(_ body: @escaping @Sendable () -> Void) { state.withLock { state in state.whenDone = body } }

        func finished() {
            let body = state.withLock { state in
                state.unfinished -= 1
                return state.unfinished == 0 ? state.whenDone.take() : nil
            }
            body?()
        }

        var failures: Int { state.withLock { state in state.failures } }

        func takesNext() -> Bool {
            state.withLock { state in
                state.left -= 1
                return state.left >= 0
            }
        }

        func failed() { state.withLock { state in state.failures += 1 } }
    }

    private static func get(_ url: String, _ engine: HTTPEngine) async -> Bool {
        guard let request = HTTPRequestValue(uri: url), let response = try? await engine.execute(request) else {
            return false
        }
        while true {
            do throws(HTTPFailure) {
                guard try await response.read() != nil else { return true }
            } catch { return false }
        }
    }
}
