import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: server-sent events")
    struct URLSessionEventTests {
        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

        private static func events(_ server: ScriptedServer, size: Int = 1 << 20) throws -> ServerSentEvents {
            let url = try #require(URL(string: server.uri("/events")))
            return privateSession().events(for: URLRequest(url: url), maximumEventSize: size)
        }

        @Test("Events of several connections, with Last-Event-ID, until status 204")
        func reconnection() async throws {
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                guard let request = try await peer.readRequest() else { return }
                requests.append(request)
                switch requests.all.count {
                case 1:
                    try await peer.write(Self.head + "retry: 1\n\nid: a1\ndata: one\r\n")
                    try await peer.write("\r\nevent: add\ndata: two\ndata: lines\n\nid: lost\ndata: cut")
                case 2: try await peer.write(Self.head + "data: three\n\n")
                case 3: try await peer.write("HTTP/1.1 204 No Content\r\n\r\n")
                default: break
                }
            }
            var events: [String] = []
            for try await event in try Self.events(server) {
                events.append("\(event.type) \(event.id) \(event.data)")
            }
            #expect(events == ["message a1 one", "add a1 two\nlines", "message a1 three"])
            #expect(requests.all.map { $0["last-event-id"] } == [nil, "a1", "a1"])
            #expect(requests.all.allSatisfy { $0["accept"] == "text/event-stream" })
            #expect(requests.all.allSatisfy { $0["cache-control"] == "no-store" })
        }

        @Test(
            "Responses that are no event stream fail",
            arguments: ["200 OK\r\nContent-Type: text/html", "404 Not Found\r\nContent-Type: text/event-stream"])
        func refused(_ head: String) async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readRequest()
                try await peer.write("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n")
            }
            var events = try Self.events(server).makeAsyncIterator()
            #expect(await failureCode { _ = try await events.next() } == .badServerResponse)
            #expect(try await events.next() == nil)
            #expect(server.acceptedCount == 1)
        }

        @Test("An event that is too long throws after the events before it")
        func size() async throws {
            let server = try ScriptedServer { peer in
                _ = try await peer.readRequest()
                try await peer.write(Self.head + "data: a\n\ndata: " + String(repeating: "x", count: 100))
            }
            var events = try Self.events(server, size: 50).makeAsyncIterator()
            #expect(try await events.next() == ServerSentEvent(data: "a"))
            #expect(await failureCode { _ = try await events.next() } == .dataLengthExceedsMaximum)
        }

        @Test("Cancellation closes the connection")
        func cancelled() async throws {
            let (gate, closed) = (Gate(), Gate())
            let server = try ScriptedServer { peer in
                _ = try await peer.readRequest()
                try await peer.write(Self.head + "data: a\n\n")
                _ = try? await peer.socket.readAll()
                closed.open()
            }
            let events = try Self.events(server)
            let task = Task {
                var events = events.makeAsyncIterator()
                _ = try await events.next()
                gate.open()
                _ = try await events.next()
            }
            await gate.wait()
            task.cancel()
            #expect(await failureCode { try await task.value } == .cancelled)
            await closed.wait()
        }
    }
}
