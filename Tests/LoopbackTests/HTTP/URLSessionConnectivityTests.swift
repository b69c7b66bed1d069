import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// Each test runs in a separate process that treats the loopback interface as a cellular interface.
    @Suite("URLSession: without a permitted network (§3, §5, §18, §25)")
    struct URLSessionConnectivityTests {
        @Test("A task fails at once with the reason, and nothing reaches the server")
        func fails() async {
            await #expect(processExitsWith: .success) {
                let server = try forbiddenNetwork()
                let url = try #require(URL(string: server.uri()))
                let session = privateSession { $0.allowsCellularAccess = false }
                let error = await failure { _ = try await session.data(from: url) }
                #expect(error?.code == .notConnectedToInternet)
                #expect(error?.networkUnavailableReason == .cellular)
                var request = URLRequest(url: url)
                request.allowsCellularAccess = false
                let second = await failure { [request] in _ = try await privateSession().data(for: request) }
                #expect(second?.networkUnavailableReason == .cellular)
                #expect(server.acceptedCount == 0)
                #expect(try await privateSession().data(from: url).0 == Data("GET ".utf8))
            }
        }

        @Test("Tasks that wait for connectivity report that once each, and can be cancelled")
        func waits() async {
            await #expect(processExitsWith: .success) {
                let server = try forbiddenNetwork()
                let url = try #require(URL(string: server.uri()))
                let delegate = WaitingDelegate()
                let session = privateSession(delegate) {
                    $0.allowsCellularAccess = false
                    $0.waitsForConnectivity = true
                }
                let load = Task { try await session.data(from: url) }
                while delegate.count == 0 { await Task.yield() }
                // A second task joins the waiting connection attempt. It must be notified too.
                let other = Task { try await session.data(from: url) }
                while delegate.count == 1 { await Task.yield() }
                for task in [load, other] { task.cancel() }
                for task in [load, other] { #expect(await failureCode { _ = try await task.value } == .cancelled) }
                #expect(delegate.count == 2 && server.acceptedCount == 0)
                let metrics = try #require(delegate.metrics)
                #expect(metrics.transactionMetrics.first?.requestStartDate == nil)
            }
        }
    }
}

/// Marks the loopback interface as cellular, and starts a server.
private func forbiddenNetwork() throws -> ScriptedServer {
    Watchdog.arm(seconds: 600)
    setenv("CAUSEWAY_INTERFACES", "lo=cellular", 1)
    return try echoServer()
}

/// Counts the tasks that wait for connectivity, and keeps the metrics of the last task.
private final class WaitingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let state = LockedValue<(count: Int, metrics: URLSessionTaskMetrics?)>((0, nil))

    var count: Int { state.withLock { $0.count } }
    var metrics: URLSessionTaskMetrics? { state.withLock { $0.metrics } }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        state.withLock { $0.count += 1 }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.withLock { $0.metrics = metrics }
    }
}
