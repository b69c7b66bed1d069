import CausewayURLLoading
import Foundation
import Testing

/// `URLSessionWebSocketTask` with other implementations.
@Suite(
    "URLSession: WebSocket peers",
    .enabled(if: PythonPeer.interpreter != nil || Interop.mustRun, "python3 is not installed"))
struct URLSessionWebSocketPeersTests {
    private static func with(
        _ program: WebSocketProgram, secure: Bool = false, compression: URLSessionWebSocketTask.Compression? = nil,
        _ body: (URLSessionWebSocketTask, Child) async throws -> Void
    ) async throws {
        let files = try await TLSFiles.shared
        try await Scratch.run { scratch in
            guard try await program.isPresent(in: scratch) else { return }
            let port = try await scratch.freePort("127.0.0.1", using: .tcp)
            let server = try await program.startServer(on: port, certificate: secure ? files : nil, in: scratch)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 36_000
            configuration.connectionProxyDictionary = [:]
            configuration.webSocketCompression = compression
            let session = URLSession(
                configuration: configuration, delegate: TrustingDelegate(), delegateQueue: nil)
            var request = URLRequest(
                url: try #require(URL(string: "\(secure ? "wss" : "ws")://127.0.0.1:\(port)/room?number=7")))
            request.setValue("from here", forHTTPHeaderField: "X-Test")
            request.setValue("none, chat", forHTTPHeaderField: "Sec-WebSocket-Protocol")
            let task = session.webSocketTask(with: request)
            task.resume()
            try await body(task, server)
            session.invalidateAndCancel()
        }
    }

    /// Sends a message and returns the next received one.
    private static func back(
        _ task: URLSessionWebSocketTask, _ message: URLSessionWebSocketTask.Message
    ) async throws -> Data {
        try await task.send(message)
        switch try await task.receive() {
        case .string(let text): return Data(text.utf8)
        case .data(let data): return data
        }
    }

    @Test(
        "Messages, fragments, pings and a close frame of the server", arguments: WebSocketProgram.allCases,
        [(false, false), (true, false), (false, true)])
    func conversation(_ program: WebSocketProgram, _ kind: (secure: Bool, compressed: Bool)) async throws {
        var compression = URLSessionWebSocketTask.Compression()
        compression.isRequired = true
        try await Self.with(program, secure: kind.secure, compression: kind.compressed ? compression : nil) { task, _ in
            task.maximumMessageSize = 8 << 20
            let fields = Data("/room?number=7 from here".utf8)
            #expect(try await Self.back(task, .string("headers")) == fields)
            let response = try #require(task.response as? HTTPURLResponse)
            #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "chat")
            #expect(response.value(forHTTPHeaderField: "X-Server") == "yes")
            for size in [0, 125, 126, 65_536, 4 << 20] {
                let content = Data((0..<size).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                let isEqual = try await Self.back(task, .data(content)) == content
                #expect(isEqual, "\(size) bytes differ")
            }
            let text = String(repeating: "Grüße, 世界 ", count: 1_000)
            let isEqual = try await Self.back(task, .string(text)) == Data(text.utf8)
            #expect(isEqual)
            #expect(try await Self.back(task, .string("fragments")) == Data("one two three".utf8))
            #expect(try await Self.back(task, .string("ping")) == Data("ponged".utf8))
            try await task.sendPing()
            await #expect(throws: POSIXError.self) { try await Self.back(task, .string("close 3001 enough")) }
            #expect(task.closeCode == .other(3001) && task.closeReason == Data("enough".utf8))
        }
    }

    @Test("A close frame of the program arrives", arguments: WebSocketProgram.allCases)
    func closed(_ program: WebSocketProgram) async throws {
        try await Self.with(program) { task, server in
            #expect(try await Self.back(task, .string("hello")) == Data("hello".utf8))
            task.cancel(with: .other(4001), reason: Data("bye".utf8))
            try await server.prints("closed 4001 bye\n")
        }
    }
}

/// Accepts every server. The certificates of the tests are for another name.
private final class TrustingDelegate: NSObject, URLSessionDelegate, Sendable {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}
