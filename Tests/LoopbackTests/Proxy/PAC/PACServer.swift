import Causeway
import CausewayTypes
import FoundationEssentials

/// A web server on this host that sends exactly the bytes that a test provides.
final class PACServer: Sendable {
    /// The request lines so far.
    let requests = Mailbox<String>()
    private let socket: RawSocket
    private let answer: @Sendable (String) -> String?

    private init(_ answer: @escaping @Sendable (String) -> String?) throws {
        socket = try RawSocket.listening(.tcp4)
        self.answer = answer
    }

    func url(_ path: String = "/proxy.pac") -> URL { URL(string: "http://127.0.0.1:\(socket.port)\(path)")! }

    static func script(_ text: String, _ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\(fields)\r\n\(text)"
    }

    /// - Parameter answer: Returns the response for a path. If it returns `nil`, the server does not respond.
    static func with(
        _ answer: @escaping @Sendable (String) -> String?, _ body: (PACServer) async throws -> Void
    ) async throws {
        let server = try PACServer(answer)
        let serving = Task { try await server.serve() }
        defer {
            serving.cancel()
            server.socket.close()
        }
        try await body(server)
    }

    private func serve() async throws {
        while !Task.isCancelled {
            let client = try await socket.accept()
            Task { try await self.serve(client) }
        }
    }

    private func serve(_ client: RawSocket) async throws {
        var head = Data()
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let piece = try await client.read()
            if piece.isEmpty { return }
            head += piece
        }
        let line = String(decoding: head, as: UTF8.self).split(separator: "\r\n").first.map(String.init) ?? ""
        requests.put(line)
        let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        if let answer = answer(path) {
            try await client.write(Data(answer.utf8))
        } else {
            _ = try await client.read()
        }
        client.close()
    }
}
