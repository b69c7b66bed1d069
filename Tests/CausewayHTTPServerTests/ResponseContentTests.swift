import CausewaySystem
import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: content of responses")
struct ResponseContentTests {
    private static let ten = HTTPServerResponse.Body.stream { writer in
        try await writer.write("12345")
        try await writer.write("67890")
        writer.setTrailers(["X": "1"])
    }

    @Test("Content is collected up to the limit", arguments: [9, 10, 11])
    func limit(_ limit: Int) async throws {
        for body in [.data(Data("1234567890".utf8)), Self.ten] as [HTTPServerResponse.Body] {
            let content = try? await body.collect(upTo: limit)
            #expect(content == (limit < 10 ? nil : Data("1234567890".utf8)))
        }
        #expect(try await HTTPServerResponse.Body.none.collect(upTo: 0).isEmpty)
    }

    @Test("Content of another length than stated is an error, also if the writer ignores it", arguments: [3, 4, 5])
    func stated(_ length: Int) async throws {
        let body = HTTPServerResponse.Body.stream(length: length) { writer in
            try await writer.write("12")
            try? await writer.write("34")
        }
        if length == 4 {
            #expect(try await body.collect(upTo: 100) == Data("1234".utf8))
        } else {
            let error = await #expect(throws: HTTPServerError.self) { _ = try await body.collect(upTo: 100) }
            #expect(error?.code == .invalidMessage && error?.status == 500)
        }
    }

    @Test("Too much content of a response is the program's fault, and a WebSocket has none")
    func refusals() async {
        let excess = await #expect(throws: HTTPServerError.self) { _ = try await Self.ten.collect(upTo: 5) }
        #expect(excess?.code == .contentTooLong && excess?.status == 500)
        let socket = HTTPServerResponse.webSocket { _ in }
        let error = await #expect(throws: HTTPServerError.self) { _ = try await socket.body.collect(upTo: 5) }
        #expect(error?.code == .invalidMessage)
    }

    @Test("A file is collected, and events are the text that a client gets")
    func others() async throws {
        var template = Array("/tmp/http-server-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        defer {
            close(descriptor)
            unlink(path)
        }
        #expect(write(descriptor, "text", 4) == 4)
        let file = try HTTPServerResponse.file(path)
        #expect(try await file.body.collect(upTo: 4) == Data("text".utf8))
        await #expect(throws: HTTPServerError.self) { _ = try await file.body.collect(upTo: 3) }
        let events = HTTPServerResponse.events { writer in try await writer.send("one", id: "7") }
        #expect(try await events.body.collect(upTo: 100) == Data("id: 7\ndata: one\n\n".utf8))
    }
}
