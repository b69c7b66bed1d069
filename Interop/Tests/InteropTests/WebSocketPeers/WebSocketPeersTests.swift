import Causeway
import Dispatch
import Foundation
import Synchronization
import Testing

extension LoopbackInterop {
    /// Tests WebSocket connections with other implementations.
    @Suite(
        "WebSocket peers", .enabled(if: PythonPeer.interpreter != nil || Interop.mustRun, "python3 is not installed"))
    struct WebSocketPeers {
        // MARK: A Causeway client

        private static func parameters(
            tls: NWProtocolTLS.Options? = nil, _ tune: (NWProtocolWebSocket.Options) -> Void = { _ in }
        ) -> NWParameters {
            let parameters = NWParameters(tls: tls)
            let options = NWProtocolWebSocket.Options()
            options.autoReplyPing = true
            tune(options)
            parameters.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
            return parameters
        }

        private static func withServer(
            _ program: WebSocketProgram, secure: Bool = false,
            compression: NWProtocolWebSocket.Compression? = nil,
            _ body: (NWConnection, Child) async throws -> Void
        ) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                guard try await program.isPresent(in: scratch) else { return }
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let server = try await program.startServer(on: port, certificate: secure ? files : nil, in: scratch)
                let parameters = Self.parameters(tls: secure ? try TLSParty.client(files) : nil) { options in
                    options.compression = compression
                    options.setSubprotocols(["none", "chat"])
                    options.setAdditionalHeaders([(name: "X-Test", value: "from here")])
                }
                let url = try #require(URL(string: "\(secure ? "wss" : "ws")://127.0.0.1:\(port)/room?number=7"))
                let connection = NWConnection(to: .url(url), using: parameters)
                defer { connection.cancel() }
                try await connection.open()
                try await body(connection, server)
            }
        }

        @Test("A Causeway client sees the negotiated parameters", arguments: WebSocketProgram.allCases)
        func agreement(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, _ in
                let found = connection.metadata(definition: NWProtocolWebSocket.definition)
                let metadata = try #require(found as? NWProtocolWebSocket.Metadata)
                #expect(metadata.selectedSubprotocol == "chat")
                let field = metadata.additionalServerHeaders?.first { $0.0.lowercased() == "x-server" }
                #expect(field?.1 == "yes")
                try await connection.say(Data("headers".utf8), .text)
                #expect(try await connection.hear().text == "/room?number=7 from here")
            }
        }

        @Test("Messages of a Causeway client are echoed", arguments: WebSocketProgram.allCases, [false, true])
        func messages(_ program: WebSocketProgram, _ secure: Bool) async throws {
            try await Self.withServer(program, secure: secure) { connection, _ in
                for size in [0, 1, 125, 126, 65_535, 65_536, 16 << 20] {
                    let block = Data((0..<min(size, 65_521)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                    var content = Data()
                    while content.count < size { content.append(block.prefix(size - content.count)) }
                    try await connection.say(content, .binary)
                    let message = try await connection.hear()
                    #expect(message.opcode == .binary)
                    #expect(message.data == content ? true : false, "\(size) bytes differ")
                }
                let text = String(repeating: "Grüße, 世界 ", count: 1_000)
                try await connection.say(Data(text.utf8), .text)
                let message = try await connection.hear()
                #expect(message.opcode == .text && message.text == text)
            }
        }

        /// Three compression settings, each of which a peer must accept: the default settings, no context takeover, and
        /// a small window.
        private static let compressions = [(true, 15), (false, 15), (true, 10)].map { takesOver, bits in
            var compression = NWProtocolWebSocket.Compression()
            compression.isRequired = true
            compression.usesContextTakeover = takesOver
            compression.maximumWindowBits = bits
            return compression
        }

        @Test("Compressed messages of a Causeway client are echoed", arguments: WebSocketProgram.allCases, compressions)
        func compressed(_ program: WebSocketProgram, _ compression: NWProtocolWebSocket.Compression) async throws {
            guard program.understands(compression) else { return }
            try await Self.withServer(program, compression: compression) { connection, _ in
                let text = String(repeating: "Grüße, 世界 ", count: 1_000)
                let noise = Data((0..<300_000).map { _ in UInt8.random(in: .min ... .max) })
                for content in [Data(text.utf8), Data(), Data("short".utf8), noise, Data(count: 1 << 20), noise] {
                    try await connection.say(content, .binary)
                    let isEqual = try await connection.hear().data == content
                    #expect(isEqual, "\(content.count) bytes differ")
                }
                try await connection.say(Data("fragments".utf8), .text)
                #expect(try await connection.hear().text == "one two three")
                try await connection.say(Data("ping".utf8), .text)
                #expect(try await connection.hear().text == "ponged")
            }
        }

        @Test("A message in three frames is received as one message", arguments: WebSocketProgram.allCases)
        func fragments(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, _ in
                try await connection.say(Data("fragments".utf8), .text)
                #expect(try await connection.hear().text == "one two three")
                // Now send in the other direction: each part is a separate send call for the same message.
                let context = NWConnection.context(.text)
                for (piece, isLast) in [("one ", false), ("two ", false), ("three", true)] {
                    connection.send(
                        content: Data(piece.utf8), contentContext: context, isComplete: isLast, completion: .idempotent)
                }
                #expect(try await connection.hear().text == "one two three")
            }
        }

        @Test("Pings are answered in both directions", arguments: WebSocketProgram.allCases)
        func pings(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, _ in
                try await connection.say(Data("ping".utf8), .text)
                #expect(try await connection.hear().text == "ponged")
                let isAnswered = Mutex(false)
                let metadata = NWProtocolWebSocket.Metadata(opcode: .ping)
                metadata.setPongHandler(DispatchQueue(label: "pong")) { error in
                    isAnswered.withLock { $0 = error == nil }
                }
                connection.send(
                    content: Data("hello".utf8),
                    contentContext: NWConnection.ContentContext(identifier: "ping", metadata: [metadata]),
                    completion: .idempotent)
                try await eventually("our ping is answered") { isAnswered.withLock { $0 } }
            }
        }

        @Test("A server's close code and reason arrive before the end", arguments: WebSocketProgram.allCases)
        func closedByServer(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, _ in
                try await connection.say(Data("close 3001 enough".utf8), .text)
                let message = try await connection.hear()
                #expect(message.opcode == .close && message.closeCode == .applicationCode(3001))
                #expect(message.text == "enough")
                #expect(try await connection.hear().isFinal)
            }
        }

        @Test("A client's close code and reason arrive", arguments: WebSocketProgram.allCases)
        func closedByClient(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, server in
                let metadata = NWProtocolWebSocket.Metadata(opcode: .close)
                metadata.closeCode = .privateCode(4001)
                connection.send(
                    content: Data("bye".utf8),
                    contentContext: NWConnection.ContentContext(identifier: "close", metadata: [metadata]),
                    completion: .idempotent)
                #expect(try await connection.hear().opcode == .close)
                #expect(try await connection.hear().isFinal)
                try await server.prints("closed 4001 bye\n")
            }
        }

        @Test("Cancelling sends a close frame", arguments: WebSocketProgram.allCases)
        func closedByCancel(_ program: WebSocketProgram) async throws {
            try await Self.withServer(program) { connection, server in
                try await connection.say(Data("hello".utf8), .text)
                #expect(try await connection.hear().text == "hello")
                connection.cancel()
                try await eventually("the server sees a normal close: \(server.text)") {
                    server.text.hasPrefix("closed 1000") || server.text.hasPrefix("closed 1005")
                }
            }
        }

        // MARK: A Causeway server

        @Test(
            "A Causeway server behaves as the implementation's own server", arguments: WebSocketProgram.allCases,
            [(false, nil), (true, nil)] + compressions.map { (false, $0) })
        func server(
            _ program: WebSocketProgram, _ kind: (secure: Bool, compression: NWProtocolWebSocket.Compression?)
        ) async throws {
            let secure = kind.secure
            // Skip this case. As a TLS client, Tornado can check only the name to which it connects. The test needs a
            // check for another name.
            if secure, program == .tornado { return }
            guard program.understands(kind.compression) else { return }
            let files = try await TLSFiles.shared
            let parameters = Self.parameters(tls: secure ? try TLSParty.server(files) : nil) { options in
                options.compression = kind.compression
                options.setClientRequestHandler(DispatchQueue(label: "requests")) { offered, fields in
                    let field = fields.first { $0.name.lowercased() == "x-test" }
                    return NWProtocolWebSocket.Response(
                        status: .accept, subprotocol: offered.last,
                        additionalHeaders: [(name: "X-Server", value: field?.value ?? "-")])
                }
            }
            try await Scratch.run { scratch in
                guard try await program.isPresent(in: scratch) else { return }
                try await InProcessServer.run(parameters, serve: Self.serve) { server, port in
                    let url = "\(secure ? "wss" : "ws")://127.0.0.1:\(port)/room"
                    let client = try program.startClient(
                        url, authority: secure ? files.certificate("root") : nil, in: scratch)
                    #expect(try await client.finished() == 0, "\(client.errors)")
                    let wanted = [
                        "agreed chat from the client", "text True", "binary True", "empty True", "fragments True",
                        "headers headers", "pong", "closed 4321 enough", "",
                    ]
                    #expect(client.text.components(separatedBy: "\n") == wanted, "\(client.errors)")
                    #expect(server.failures.isEmpty)
                }
            }
        }

        @Test("A refused client receives the reason", arguments: WebSocketProgram.allCases)
        func refused(_ program: WebSocketProgram) async throws {
            let parameters = Self.parameters { options in
                options.setClientRequestHandler(DispatchQueue(label: "requests")) { _, _ in
                    NWProtocolWebSocket.Response(status: .reject, subprotocol: nil)
                }
            }
            try await Scratch.run { scratch in
                guard try await program.isPresent(in: scratch) else { return }
                try await InProcessServer.run(parameters, serve: Self.serve) { _, port in
                    let client = try program.startClient("ws://127.0.0.1:\(port)/", in: scratch)
                    #expect(try await client.finished() == 0, "\(client.errors)")
                    #expect(client.text == "refused 400\n")
                }
            }
        }

        @Test("nw cat -w ends when no message has passed for this time")
        func idle() async throws {
            try await Scratch.run { scratch in
                try await InProcessServer.run(Self.parameters(), serve: Self.serve) { _, port in
                    let nw = try scratch.startNW(["cat", "-w", "0.3", "ws://127.0.0.1:\(port)/"], input: .held)
                    try nw.write("hello\n")
                    #expect(try await nw.finished() == 0, "\(nw.errors)")
                    #expect(nw.text == "hello\n")
                }
            }
        }

        @Sendable private static func serve(_ connection: NWConnection) async throws {
            while true {
                let message = try await connection.hear()
                guard !message.isFinal, let opcode = message.opcode, opcode != .close else { return }
                let words = opcode == .text ? message.text.split(separator: " ") : []
                if words.first == "close", words.count == 3, let code = UInt16(words[1]) {
                    let metadata = NWProtocolWebSocket.Metadata(opcode: .close)
                    metadata.closeCode = try NWProtocolWebSocket.CloseCode(rawValue: code)
                    connection.send(
                        content: Data(words[2].utf8),
                        contentContext: NWConnection.ContentContext(identifier: "close", metadata: [metadata]),
                        completion: .idempotent)
                } else {
                    try await connection.say(message.data, opcode)
                }
            }
        }
    }
}

/// A WebSocket message.
private struct Heard: Sendable {
    var data: Data
    var opcode: NWProtocolWebSocket.Opcode?
    var closeCode: NWProtocolWebSocket.CloseCode?
    var isFinal: Bool

    var text: String { String(decoding: data, as: UTF8.self) }
}

extension NWConnection {
    fileprivate static func context(_ opcode: NWProtocolWebSocket.Opcode) -> ContentContext {
        ContentContext(identifier: "message", metadata: [NWProtocolWebSocket.Metadata(opcode: opcode)])
    }

    fileprivate func say(_ content: Data, _ opcode: NWProtocolWebSocket.Opcode) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            send(
                content: content, contentContext: Self.context(opcode),
                completion: .contentProcessed { error in
                    continuation.resume(with: error.map { .failure($0) } ?? .success(()))
                })
        }
    }

    fileprivate func hear() async throws -> Heard {
        try await withCheckedThrowingContinuation { continuation in
            receiveMessage { content, context, _, error in
                let isFinal = context?.isFinal ?? false
                if let error, !isFinal { return continuation.resume(throwing: error) }
                let found = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
                let metadata = found as? NWProtocolWebSocket.Metadata
                continuation.resume(
                    returning: Heard(
                        data: content ?? Data(), opcode: metadata?.opcode, closeCode: metadata?.closeCode,
                        isFinal: isFinal))
            }
        }
    }
}
