import CausewayHTTP
import CausewaySystem

/// Sends requests with the HTTP engine, without the URL loading system.
public enum HTTPMeasure {
    /// Loads a URL over and over.
    ///
    /// - Parameter concurrency: The number of requests that are in progress at the same time.
    /// - Returns: The number of failed requests.
    ///
    /// Cancellation: has no effect.
    public static func get(_ url: String, times: Int, concurrency: Int) async -> Int {
        var configuration = HTTPEngine.Configuration()
        configuration.limits.connectionsPerKey = max(concurrency, 1)
        let engine = HTTPEngine(configuration)
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

    /// The requests that are left, and the failures so far.
    private final class Count: Sendable {
        private let state: LockedValue<(left: Int, failures: Int)>

        init(_ times: Int) { state = LockedValue((times, 0)) }

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
