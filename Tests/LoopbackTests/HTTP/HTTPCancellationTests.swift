import CausewayHTTP
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Cancelled HTTP requests")
    struct HTTPCancellationTests {
        @Test("Requests that are cancelled at any moment leave no descriptor: HTTP/1.1")
        func http1() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                try await CancelledRequests(isHTTP2: false).expectNoLeak(after: 1_000)
            }
        }

        @Test("Requests that are cancelled at any moment leave no descriptor: HTTP/2 over TLS")
        func http2() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                try await CancelledRequests(isHTTP2: true).expectNoLeak(after: 1_000)
            }
        }
    }
}

/// Sends requests, and cancels their tasks after increasing delays.
private struct CancelledRequests {
    private let authority: HTTPAuthority
    private let server: MachineServer
    private let isHTTP2: Bool

    init(isHTTP2: Bool) async throws {
        let authority = try HTTPAuthority()
        let tls = isHTTP2 ? try authority.serverOptions(["h2"]) : nil
        self.authority = authority
        self.isHTTP2 = isHTTP2
        server = try await MachineServer(tls: tls) { _ in MachineServer.Reply(content: Data("12345678".utf8)) }
    }

    func expectNoLeak(after count: Int) async throws {
        try await run(50)
        let before = ConnectionCycles.descriptorCount
        try await run(count)
        let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
        #expect(isUnchanged, "\(ConnectionCycles.descriptorCount) descriptors, \(before) before")
        server.stop()
    }

    private func run(_ count: Int) async throws {
        var configuration = HTTPEngine.Configuration()
        if isHTTP2 { configuration.makeParameters = { [authority] _ in authority.clientParameters() } }
        let engine = HTTPEngine(configuration)
        var request = try #require(HTTPRequestValue(uri: server.uri(scheme: isHTTP2 ? "https" : "http")))
        request.idleTimeout = nil
        let accepted = server.acceptedCount
        for number in 0..<count {
            let task = Task { [request] in
                let response = try await engine.execute(request)
                return try await response.collect(upTo: 100)
            }
            // Each test run cancels the task at another moment. No event marks this moment, so use a pause.
            try await Task.sleep(for: .microseconds(number % 50 * 20))
            task.cancel()
            if case .success(let body) = await task.result { #expect(body == Data("12345678".utf8)) }
        }
        // A cancelled HTTP/2 request closes only its stream. But a connection attempt can be cancelled before it
        // succeeds, so there can be several connections.
        if isHTTP2 { #expect(server.acceptedCount - accepted <= 50) }
        engine.shutDown()
        #expect(await eventually { engine.connectionCount == 0 })
    }
}
