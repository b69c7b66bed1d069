import CausewayHTTP
import CausewayProtocols
import CausewaySystem
import CausewayWire
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("HTTP exchanges")
    struct HTTPExchangeTests {
        private static func text(
            _ engine: HTTPEngine, _ uri: String, body: HTTPRequestBody = .none, method: String = "GET"
        )
            async throws -> String
        {
            let request = try #require(HTTPRequestValue(method: method, uri: uri))
            let response = try await engine.execute(request, body: body)
            return String(decoding: try await response.collect(upTo: 1 << 20), as: UTF8.self)
        }

        @Test("Requests in sequence use one connection", arguments: Medium.internetStreams)
        func keepAlive(_ medium: Medium) async throws {
            let server = try ScriptedServer(medium) { peer in
                while let head = try await peer.readHead() { try await peer.respond(String(head.prefix(6))) }
            }
            let engine = HTTPEngine()
            for number in 0..<5 {
                #expect(try await Self.text(engine, server.uri("/\(number)")) == "GET /\(number)")
            }
            #expect(server.acceptedCount == 1)
        }

        @Test("1,000 of 1,000 requests succeed although the server closes idle connections silently")
        func staleClose() async throws {
            let server = try ScriptedServer { peer in
                // The server answers two requests on each connection. Then it closes the connection, although it has
                // not sent `Connection: close`.
                for _ in 0..<2 where try await peer.readHead() != nil { try await peer.respond("ok") }
            }
            let engine = HTTPEngine()
            for _ in 0..<1_000 { #expect(try await Self.text(engine, server.uri()) == "ok") }
        }

        // Retries of requests: RFC 9112 §9.3.1.
        @Test("A POST that may have arrived is not sent twice")
        func postOnce() async throws {
            let count = Counter()
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.respond("ok")
                _ = try await peer.readHead()
                count.increment()
            }
            let engine = HTTPEngine()
            _ = try await Self.text(engine, server.uri())
            await #expect(throws: HTTPFailure.self) {
                _ = try await Self.text(engine, server.uri(), body: .data(Data("x")), method: "POST")
            }
            #expect(count.value == 1)
            #expect(server.acceptedCount == 1)
        }

        // RFC 9112 §8.
        @Test("A short body is an error with both lengths")
        func shortBody() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            }
            let engine = HTTPEngine()
            do {
                _ = try await Self.text(engine, server.uri())
                Issue.record("the body was accepted")
            } catch HTTPFailure.connectionLost(let received, let expected, _) {
                #expect(received == 5)
                #expect(expected == 10)
            }
        }

        @Test("Interim responses, chunks and trailers arrive")
        func trailers() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                try await peer.write(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-End: yes\r\n\r\n")
                _ = try await peer.readHead()
            }
            let engine = HTTPEngine()
            let response = try await engine.execute(try #require(HTTPRequestValue(uri: server.uri())))
            #expect(response.informational.map(\.status) == [103])
            #expect(response.trailers == nil)
            var all = Data()
            for try await piece in response.body { all += piece }
            #expect(all == Data("abc"))
            #expect(response.trailers?.firstValue(of: "x-end") == "yes")
        }

        @Test("A streamed body is sent while the response is read")
        func duplex() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                // The server sends the chunks of the request back as the response body.
                try await peer.write(try await peer.read(through: "0\r\n\r\n"))
                _ = try await peer.readHead()
            }
            let engine = HTTPEngine()
            let (pieces, input) = AsyncStream<Data>.makeStream()
            let response = try await engine.execute(
                try #require(HTTPRequestValue(method: "POST", uri: server.uri())),
                body: .stream(SequenceBodySource(pieces), length: nil))
            for number in 0..<20 { input.yield(Data("<\(number)>")) }
            input.finish()
            let all = String(decoding: try await response.collect(upTo: 1_000), as: UTF8.self)
            #expect(all == (0..<20).map { "<\($0)>" }.joined())
        }

        @Test("The server stops while the reader does not read")
        func backPressure() async throws {
            let total = 64 << 20
            let written = Counter()
            let sockets = Mailbox<RawSocket>()
            let server = try ScriptedServer { peer in
                sockets.put(peer.socket)
                _ = try await peer.readHead()
                try await peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                let block = Data(count: 1 << 20)
                for _ in 0..<64 {
                    try await peer.socket.write(block)
                    written.increment(by: block.count)
                }
                _ = try await peer.readHead()
            }
            let engine = HTTPEngine()
            let response = try await engine.execute(try #require(HTTPRequestValue(uri: server.uri())))
            let socket = try await sockets.next()
            #expect(await eventually { KernelSocket.isFull(socket.fd) || written.value == total })
            // The server cannot write all of its content, because the kernel buffers of both sockets have room for only
            // a few MiB.
            #expect(written.value < 24 << 20)
            var received = 0
            while let piece = try await response.read() {
                #expect(piece.count <= 64 << 10)
                received += piece.count
            }
            #expect(received == total)
        }

        @Test("A request fails at its deadline and after its idle timeout")
        func limits() async throws {
            let server = try ScriptedServer { peer in while try await peer.readHead() != nil {} }
            let engine = HTTPEngine()
            var request = try #require(HTTPRequestValue(uri: server.uri()))
            request.deadline = .milliseconds(200)
            let start = System.now
            guard case .deadlineExceeded? = await failure(of: request, engine) else {
                Issue.record("the deadline had no effect")
                return
            }
            #expect(System.now - start >= .milliseconds(200))
            request.deadline = nil
            request.idleTimeout = .milliseconds(100)
            guard case .timedOut? = await failure(of: request, engine) else {
                Issue.record("the idle timeout had no effect")
                return
            }
            #expect(await eventually { engine.connectionCount == 0 })
        }

        // The calls share this function, because the compiler of Swift 6.3 crashes if one function has two such `catch`
        // clauses. A non-exhaustive clause for this error type is enough.
        private func failure(of request: HTTPRequestValue, _ engine: HTTPEngine) async -> HTTPFailure? {
            do {
                _ = try await engine.execute(request)
                return nil
            } catch {
                return error
            }
        }

        @Test("A refused connection fails at once")
        func refused() async throws {
            // A socket that is bound and does not listen. No other test can get its port.
            let holder = RawSocket(try Socket.open(.ipv4, .stream))
            try Socket.bind(holder.fd, to: Medium.tcp4.socketAddress(port: 0))
            let engine = HTTPEngine()
            do {
                _ = try await engine.execute(try #require(HTTPRequestValue(uri: "http://127.0.0.1:\(holder.port)/")))
                Issue.record("there was a response")
            } catch HTTPFailure.cannotConnect(let error) {
                #expect(error == .posix(.ECONNREFUSED))
            }
            holder.close()
        }
    }
}
