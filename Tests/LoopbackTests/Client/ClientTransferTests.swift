@testable import CausewayClient
import CausewayHTTPServer
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// Tests of a client's uploads and downloads.
    @Suite("Transfers of a client")
    struct ClientTransferTests {
        /// Calls a closure with a new directory, which is removed afterwards.
        private func withDirectory(_ body: (URL) async throws -> Void) async throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-client-\(UUID())")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: directory) }
            try await body(directory)
        }

        private static func names(in directory: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        }

        @Test("U1, U2: the destination is decided when the response is known; progress never falls and ends at 1")
        func u1() async throws {
            let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
            var routes = HTTPServerRoutes()
            routes.get("/known") { _ in
                HTTPServerResponse(
                    fields: ["Content-Disposition": "attachment; filename=report.bin"], body: .data(content))
            }
            routes.get("/unknown") { _ in HTTPServerResponse(body: .stream { try await $0.write(content) }) }
            try await TestServer.run(routes: routes) { _, port in
                try await withDirectory { directory in
                    let client = try loopbackClient(port)
                    for path: RequestPath in ["known", "unknown"] {
                        let seen = LockedValue<[TransferProgress]>([])
                        let response = try await client.download(ClientRequest("GET", path)) { progress in
                            seen.withLock { $0.append(progress) }
                        } to: { response in
                            directory.appendingPathComponent(response.suggestedFilename ?? "x")
                        }
                        #expect(try Data(contentsOf: response.value) == content)
                        let steps = seen.withLock { $0 }
                        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.byteCount <= $1.byteCount })
                        #expect(steps.last?.description == "100.00 %" && steps.dropLast().allSatisfy { !$0.isComplete })
                        #expect(path.description == "known" || steps.dropLast().allSatisfy { $0.fraction == nil })
                    }
                    #expect(try Self.names(in: directory) == ["report.bin", "unknown"])
                }
            }
        }

        @Test(
            "U3: a form from memory and from a file arrives with its names, types and fields, and its progress is reported"
        )
        func u3() async throws {
            let received = LockedValue<Data>(Data())
            var routes = HTTPServerRoutes()
            routes.post("/fileupload") { request in
                let body = try await request.body.collect(upTo: 1 << 24)
                received.withLock { $0 = Data(body) }
                return HTTPServerResponse(
                    fields: ["Content-Type": "application/json"], body: .data(Data("{\"size\":\(body.count)}".utf8)))
            }
            try await TestServer.run(routes: routes) { _, port in
                try await withDirectory { directory in
                    let file = directory.appendingPathComponent("photo.jpg")
                    try Data(repeating: 0x41, count: 200_000).write(to: file)
                    var form = MultipartForm()
                    form.append("Ann", name: "author")
                    form.append(Data("[]".utf8), name: "meta", fileName: "m.json", contentType: "application/json")
                    form.append(contentsOf: file, name: "picture")
                    let client = try loopbackClient(port)
                    let seen = LockedValue<[TransferProgress]>([])
                    var request = ClientRequest("POST", "fileupload")
                    request.body = .multipart(form)
                    let response = try await client.send(request, as: .json([String: Int].self)) { progress in
                        seen.withLock { $0.append(progress) }
                    }
                    let encoded = try form.encoded()
                    #expect(response.value == ["size": encoded.count] && received.withLock { $0 } == encoded)
                    #expect(seen.withLock { $0.last?.description } == "100.00 %")
                    // Send the same content without progress reports, because the session handles such an upload
                    // differently.
                    let again: [String: Int] = try await client.post("fileupload", body: .multipart(form))
                    #expect(again == ["size": encoded.count])
                    let single: [String: Int] = try await client.post("fileupload", body: .file(file))
                    #expect(single == ["size": 200_000])
                    #expect(try client.curlCommand(for: request).contains("fileupload"))
                }
            }
        }

        @Test(
            "A download and a stream send the content of their request, from memory, a file or a form, also after a redirect",
            arguments: ["echo", "moved"])
        func contents(path: String) async throws {
            var routes = HTTPServerRoutes()
            routes.post("/moved") { request in
                _ = try await request.body.collect(upTo: 1 << 24)
                return .redirect(to: "/echo", status: 307)
            }
            routes.post("/echo") { request in
                let body = try await request.body.collect(upTo: 1 << 24)
                return HTTPServerResponse(body: .data(Data(body)))
            }
            try await TestServer.run(routes: routes) { _, port in
                try await withDirectory { directory in
                    let file = directory.appendingPathComponent("sent")
                    try Data("from a file".utf8).write(to: file)
                    var form = MultipartForm()
                    form.append("Ann", name: "author")
                    let client = try loopbackClient(port)
                    let bodies: [(body: RequestBody, content: Data)] = [
                        (.text("text"), Data("text".utf8)), (.file(file), Data("from a file".utf8)),
                        (.multipart(form), try form.encoded()),
                    ]
                    for (body, content) in bodies {
                        var request = ClientRequest("POST", path == "moved" ? "moved" : "echo")
                        request.body = body
                        let response = try await client.download(request) { _ in
                            directory.appendingPathComponent("received")
                        }
                        #expect(try Data(contentsOf: response.value) == content)
                        let streamed: Data = try await client.stream(request) { _, bytes in
                            var received = Data()
                            for try await byte in bytes { received.append(byte) }
                            return received
                        }
                        #expect(streamed == content)
                    }
                }
            }
        }

        @Test("U5: a failure, a refusal and a cancellation leave the old file; a repetition replaces it")
        func u5() async throws {
            let gate = Gate()
            let began = Gate()
            let number = RequestCount()
            var routes = HTTPServerRoutes()
            routes.get("/file") { _ in
                number.add()
                switch number.value {
                case 1, 5: return HTTPServerResponse(body: .data(Data("version \(number.value)".utf8)))
                case 2: return HTTPServerResponse(status: 404, body: .data(Data("no".utf8)))
                case 3:
                    return HTTPServerResponse(
                        body: .stream { writer in
                            try await writer.write(Data("half".utf8))
                            throw HTTPServerError(status: 500)
                        })
                default:
                    return HTTPServerResponse(
                        body: .stream { writer in
                            try await writer.write(Data("half".utf8))
                            began.open()
                            await gate.wait()
                        })
                }
            }
            try await TestServer.run(routes: routes) { _, port in
                defer { gate.open() }
                try await withDirectory { directory in
                    let client = try loopbackClient(port) { $0.retryPolicy = .never }
                    let file = directory.appendingPathComponent("file")
                    @Sendable func load() async throws {
                        _ = try await client.download(ClientRequest("GET", "file")) { _ in file }
                    }
                    try await load()
                    let refused = await clientFailure { try await load() }
                    #expect(refused?.status == 404 && refused?.content == Data("no".utf8))
                    #expect(await clientFailure { try await load() }?.code == .transport)
                    let task = Task { try await load() }
                    await began.wait()
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                    gate.open()
                    #expect(try Data(contentsOf: file) == Data("version 1".utf8))
                    try await load()
                    #expect(try Data(contentsOf: file) == Data("version 5".utf8))
                    #expect(try Self.names(in: directory) == ["file"])
                    let nowhere = await clientFailure {
                        _ = try await client.download(ClientRequest("GET", "file")) { _ in
                            directory.appendingPathComponent("missing/file")
                        }
                    }
                    #expect(number.value == 6 && nowhere?.code == .file)
                }
            }
        }

        @Test("A call that is cancelled before and after its task began ends as cancelled")
        func cancelled() async throws {
            let began = Gate()
            let gate = Gate()
            var routes = HTTPServerRoutes()
            routes.on("*", "/") { _ in
                began.open()
                await gate.wait()
                return .text("late")
            }
            try await TestServer.run(routes: routes) { _, port in
                defer { gate.open() }
                let client = try loopbackClient(port) { $0.maximumContentLength = 10 }
                for method in ["GET", "POST"] {
                    let early = Task {
                        withUnsafeCurrentTask { $0?.cancel() }
                        _ = try await client.send(ClientRequest(method, ""), as: .text)
                    }
                    await #expect(throws: CancellationError.self) { try await early.value }
                }
                let late = Task { _ = try await client.send(ClientRequest("POST", ""), as: .text) }
                await began.wait()
                late.cancel()
                await #expect(throws: CancellationError.self) { try await late.value }
                let transfer = Transfer(progress: nil)
                let request = URLRequest(url: client.baseURL)
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await transfer.run(client.session.dataTask(with: request))
                }
                await #expect(throws: URLError.self) { try await task.value }
                gate.open()
            }
        }
    }
}
