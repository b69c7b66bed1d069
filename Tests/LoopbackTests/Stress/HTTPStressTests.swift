import CausewayHTTP
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("HTTP storms")
    struct HTTPStressTests {
        @Test("10,000 of 10,000 requests succeed although the server closes idle connections silently")
        func staleConnections() async throws {
            let server = try ScriptedServer { peer in
                // On each connection, the server answers two requests and then closes the connection. It does not
                // announce this with `Connection: close`.
                for _ in 0..<2 where try await peer.readHead() != nil { try await peer.respond("ok") }
            }
            let engine = HTTPEngine()
            var request = try #require(HTTPRequestValue(uri: server.uri()))
            request.idleTimeout = nil
            let (clients, count) = (8, 10_000)
            let received = try await withThrowingTaskGroup(of: Int.self) { [request] group in
                for _ in 0..<clients {
                    group.addTask {
                        var received = 0
                        for _ in 0..<(count / clients) {
                            let response = try await engine.execute(request)
                            let content = try await response.collect(upTo: 100)
                            if content == Data("ok".utf8) { received += 1 }
                        }
                        return received
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(received == count)
        }
    }
}
