import Causeway
import CausewayLines
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Line transports")
    struct LineTransportTests {
        /// Runs `body` with two ends of a line exchange, each over one kind of transport.
        private static func with(
            _ client: LineTransportKind, _ server: LineTransportKind,
            _ body: (_ client: any LineTransport, _ server: any LineTransport) async throws -> Void
        ) async throws {
            let ports = Mailbox<NWEndpoint.Port>()
            async let accepted = server.accept(at: "127.0.0.1", port: .any) { ports.put($0) }
            let port = try await ports.next()
            let one = try await client.connect(to: "127.0.0.1", port: port)
            try await one.open()
            let other = try await accepted
            try await other.open()
            defer {
                one.close()
                other.close()
            }
            #expect(one.peer == "127.0.0.1:\(port.rawValue)" && other.peer.hasPrefix("127.0.0.1:"))
            try await body(one, other)
        }

        @Test(
            "Every kind of transport exchanges lines with every kind, up to the end of each direction",
            arguments: LineTransportKind.allCases, LineTransportKind.allCases)
        func pairs(_ client: LineTransportKind, _ server: LineTransportKind) async throws {
            try await Self.with(client, server) { one, other in
                let longest = String(repeating: "y", count: LineFormat.limit)
                for (from, to) in [(one, other), (other, one)] {
                    for line in ["who is there?", "", longest, "é"] {
                        try await from.send(line)
                        #expect(try await to.nextText() == line)
                    }
                }
                try await one.sendEnd()
                #expect(try await other.next() == nil)
                // The direction from `other` to `one` is still open.
                try await other.send("well then")
                #expect(try await one.nextText() == "well then")
                try await other.sendEnd()
                #expect(try await one.next() == nil)
            }
        }

        @Test("A line that is too long is not sent, and the next one is", arguments: LineTransportKind.allCases)
        func tooLong(_ kind: LineTransportKind) async throws {
            try await Self.with(kind, .sockets) { one, other in
                let line = String(repeating: "y", count: LineFormat.limit + 1)
                await #expect(throws: LineProblem.tooLong) { try await one.send(line) }
                try await one.send("short")
                #expect(try await other.nextText() == "short")
            }
        }

        @Test(
            "A malformed line is reported after the lines before it", arguments: LineTransportKind.allCases,
            [("a\r\n" + String(repeating: "x", count: 1_025) + "\r\n", LineProblem.tooLong), ("a\nb", .unfinished)])
        func badLines(_ kind: LineTransportKind, _ bad: (text: String, problem: LineProblem)) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            let transport = try await kind.connect(to: "127.0.0.1", port: port)
            async let peer = listener.accept()
            try await transport.open()
            let raw = try await peer
            try await raw.write(Data(bad.text.utf8))
            raw.close()
            #expect(try await transport.nextText() == "a")
            await #expect(throws: bad.problem) { try await transport.next() }
            transport.close()
        }

        @Test("Closing ends a waiting call", arguments: LineTransportKind.allCases)
        func close(_ kind: LineTransportKind) async throws {
            try await Self.with(kind, .sockets) { one, other in
                let waiting = Task { try? await one.next() }
                try await other.send("hello")
                #expect(await waiting.value == Data("hello"))
                let last = Task { try? await one.next() }
                one.close()
                #expect(await last.value == nil)
            }
        }

        @Test(
            "A receive ends with ECANCELED when its task is cancelled, and the next one gets the line",
            arguments: LineTransportKind.allCases)
        func cancelledReceive(_ kind: LineTransportKind) async throws {
            try await Self.with(kind, .sockets) { one, other in
                let began = Mailbox<Void>()
                let waiting = Task {
                    began.put(())
                    return try await one.next()
                }
                _ = try await began.next()
                waiting.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await waiting.value }
                try await other.send("hello")
                #expect(try await one.nextText() == "hello")
                // A task that was cancelled before receives nothing, although a line has arrived.
                try await other.send("again")
                let before = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await one.next()
                }
                await #expect(throws: NWError.posix(.ECANCELED)) { try await before.value }
                #expect(try await one.nextText() == "again")
            }
        }

        @Test(
            "A send ends with ECANCELED when its task is cancelled, and the peer gets whole lines",
            arguments: LineTransportKind.allCases)
        func cancelledSend(_ kind: LineTransportKind) async throws {
            try await Self.with(kind, .sockets) { one, other in
                let line = String(repeating: "x", count: LineFormat.limit)
                let sent = Mailbox<Void>()
                // Sends until the peer, which does not read yet, holds it up.
                let sending = Task {
                    while true {
                        try await one.send(line)
                        sent.put(())
                    }
                }
                _ = try await sent.next()
                sending.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await sending.value }
                let last = Task { try await one.send("last") }
                var count = 0
                while let text = try await other.nextText(), text != "last" {
                    #expect(text == line)
                    count += 1
                }
                try await last.value
                #expect((0...1).contains(count - sent.history.count))
            }
        }

        @Test("A cancelled open ends with ECANCELED", arguments: [LineTransportKind.network, .streams])
        func cancelledOpen(_ kind: LineTransportKind) async throws {
            let listener = try RawSocket.listening(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: listener.port))
            // The peer accepts the connection and never begins the TLS handshake.
            let transport = try await kind.connect(to: "127.0.0.1", port: port, using: .tls)
            let opening = Task { try await transport.open() }
            let peer = try await listener.accept()
            opening.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { try await opening.value }
            peer.close()
            listener.close()
        }

        @Test(
            "Connecting or opening without a listener fails with the system's error number",
            arguments: LineTransportKind.allCases)
        func refused(_ kind: LineTransportKind) async throws {
            let socket = try RawSocket.refusing(.tcp4)
            let port = try #require(NWEndpoint.Port(rawValue: socket.port))
            await #expect(throws: NWError.posix(.ECONNREFUSED)) {
                try await kind.connect(to: "127.0.0.1", port: port).open()
            }
            withExtendedLifetime(socket) {}
        }

        @Test("A cancelled wait for a peer ends, and its port is free again", arguments: LineTransportKind.allCases)
        func cancelledAccept(_ kind: LineTransportKind) async throws {
            let ports = Mailbox<NWEndpoint.Port>()
            let waiting = Task { try await kind.accept(at: "127.0.0.1", port: .any) { ports.put($0) } }
            let port = try await ports.next()
            waiting.cancel()
            await #expect(throws: (any Error).self) { try await waiting.value }
            try await within {
                while (try? await RawSocket.connected(to: .ipv4(bits: 0x7F00_0001, port: port.rawValue))) != nil {}
            }
        }

        @Test("Plain sockets refuse parameters with TLS")
        func noTLS() async {
            await #expect(throws: NWError.posix(.EOPNOTSUPP)) {
                _ = try await LineTransportKind.sockets.connect(to: "127.0.0.1", port: 9, using: .tls)
            }
        }
    }
}
