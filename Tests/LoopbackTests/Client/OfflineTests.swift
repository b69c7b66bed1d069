@testable import CausewayClient
import CausewayHTTPServer
import CausewayOffline
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// What programs do with a client and an offline engine.
    @Suite("Offline and caching")
    struct OfflineTests {
        @Test(
            "O4, O6: a cached response is flagged; the stored value comes first, then the fresh one; a reload is forced"
        )
        func o6() async throws {
            let version = LockedValue(1)
            let sent = LockedValue<[Int]>([])
            var routes = HTTPServerRoutes()
            routes.get("/albums") { request in
                let now = version.withLock { $0 }
                let isUnchanged = request.fields["If-None-Match"] == "\"\(now)\""
                sent.withLock { $0.append(isUnchanged ? 304 : 200) }
                let fields: HTTPServerFields = [
                    "ETag": "\"\(now)\"", "Cache-Control": "max-age=36000", "Content-Type": "application/json",
                ]
                guard !isUnchanged else { return HTTPServerResponse(status: 304, fields: fields) }
                return HTTPServerResponse(status: 200, fields: fields, body: .data(Data("[\(now)]".utf8)))
            }
            try await TestServer.run(routes: routes) { _, port in
                let client = try loopbackClient(port)
                func values() async throws -> [[Int]] {
                    var values: [[Int]] = []
                    for try await response in client.values(ClientRequest("GET", "albums"), as: .json([Int].self)) {
                        values.append(response.value + [response.isFromCache ? 1 : 0])
                    }
                    return values
                }
                #expect(try await values() == [[1, 0]])
                let cached = try await client.send(ClientRequest("GET", "albums"), as: .json([Int].self))
                #expect(cached.isFromCache && cached.value == [1])
                // The content has not changed, so the server confirms the stored response.
                #expect(try await values() == [[1, 1], [1, 1]])
                version.withLock { $0 = 2 }
                #expect(try await values() == [[1, 1], [2, 0]])
                version.withLock { $0 = 3 }
                var reload = ClientRequest("GET", "albums")
                reload.cachePolicy = .reloadIgnoringLocalCacheData
                let fresh = try await client.send(reload, as: .json([Int].self))
                #expect(!fresh.isFromCache && fresh.value == [3])
                #expect(sent.withLock { $0 } == [200, 304, 200, 200])
            }
        }

        @Test(
            "O5: operations that were queued without a server are sent in order when there is one, also by a new engine"
        )
        func o5() async throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
                "offline-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: directory) }
            let seen = LockedValue<[String]>([])
            var routes = HTTPServerRoutes()
            routes.on("*", "/notes/{name}") { request in
                let body = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
                let key = request.fields["Idempotency-Key"] ?? ""
                seen.withLock {
                    $0.append("\(request.method) \(request.parameters["name"] ?? "") \(body) \(key.count)")
                }
                return HTTPServerResponse(status: 204)
            }
            func requests() -> [ClientRequest] {
                ["POST", "PUT", "PATCH"].map { method in
                    var request = ClientRequest(method, "notes/ž")
                    request.body = .text(method)
                    return request
                } + [ClientRequest("DELETE", "notes/ž")]
            }
            // No server listens on port 1, so all requests fail.
            let dead = try await OfflineEngine.open(directory: directory, client: loopbackClient(1))
            for request in requests() { try await dead.enqueue(request) }
            let running = Task { try await dead.run() }
            while dead.hasWay { await Task.yield() }
            running.cancel()
            try await running.value
            #expect(dead.operations.count == 4 && dead.reports.isEmpty)
            await #expect(throws: OfflineError.self) {
                _ = try await OfflineEngine.open(directory: directory, client: dead.client)
            }
            let copy = directory.path + "-copy"
            try FileManager.default.copyItem(atPath: directory.path, toPath: copy)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy)
            try await TestServer.run(routes: routes) { _, port in
                let engine = try await OfflineEngine.open(
                    directory: URL(filePath: copy), client: loopbackClient(port))
                let running = Task { try await engine.run() }
                for await operations in engine.operationUpdates where operations.isEmpty { break }
                running.cancel()
                try await running.value
                #expect(engine.reports.isEmpty && engine.hasWay)
            }
            #expect(seen.withLock { $0 } == ["POST ž POST 38", "PUT ž PUT 38", "PATCH ž PATCH 38", "DELETE ž  38"])
        }
    }
}
