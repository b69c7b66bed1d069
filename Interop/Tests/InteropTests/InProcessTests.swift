import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `NWConnection` and `NWListener` in this process with peers in other processes.
    @Suite("In process", .enabled(if: !Peer.present.isEmpty, "no peer is installed"))
    struct InProcessTests {
        @Test("A connection's content comes back from a peer's echo", arguments: Medium.present)
        func echoes(_ medium: Medium) async throws {
            guard let socat = Peer.find("socat") else { return print("SKIPPED: socat is not installed") }
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(medium)
                let listening = Peer.socat.listening(at: place).last ?? ""
                let server = try scratch.start(.socat, ["-t", "30", listening, "EXEC:cat"])
                try await Sockets.waitForListener(at: place)
                let connection = NWConnection(to: place.endpoint, using: .tcp)
                defer { connection.cancel() }
                try await connection.open()
                let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
                async let answer = Self.everything(from: connection)
                try await connection.send(content)
                try await connection.sendEnd()
                #expect(try await answer == content ? true : false, "\(socat) returned different bytes")
                #expect(try await server.finished() == 0, "\(server.errors)")
            }
        }

        @Test("A listener serves many clients at once")
        func servesManyClients() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let listener = try NWListener(using: .tcp)
                let queue = DispatchQueue(label: "server")
                listener.newConnectionHandler = { connection in
                    connection.start(queue: queue)
                    Self.echo(connection)
                }
                listener.start(queue: queue)
                defer { listener.cancel() }
                try await eventually("the listener is ready") { listener.state == .ready }
                let place = Place.tcp("127.0.0.1", try #require(listener.port?.rawValue))
                let clients = try (0..<8).map { number in
                    let client = try scratch.start(peer, peer.connecting(to: place), input: .held)
                    try client.write("client \(number)")
                    return client
                }
                // All connections are still open, so the server must serve all clients at the same time.
                for (number, client) in clients.enumerated() { try await client.prints("client \(number)") }
                for client in clients { try client.endInput() }
                for client in clients { _ = try await client.finished() }
            }
        }

        @Test("A peer's reset fails the connection")
        func reset() async throws {
            guard Peer.socat.path != nil else { return print("SKIPPED: socat is not installed") }
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(.ipv4)
                let listening = Peer.socat.listening(at: place).last ?? ""
                let server = try scratch.start(.socat, ["\(listening),linger=0", "EXEC:sleep 30"])
                try await Sockets.waitForListener(at: place)
                let connection = NWConnection(to: place.endpoint, using: .tcp)
                connection.start(queue: DispatchQueue(label: "client"))
                try await eventually("the connection is ready") { connection.state == .ready }
                server.kill()
                await #expect(throws: NWError.posix(.ECONNRESET)) { try await connection.receive(atMost: 1) }
                try await eventually("the connection fails") { connection.state == .failed(.posix(.ECONNRESET)) }
                connection.cancel()
                try await eventually("the connection is cancelled") { connection.state == .cancelled }
            }
        }

        @Test("A waiting connection becomes ready once a listener exists")
        func waitsForListener() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(.ipv4)
                let connection = NWConnection(to: place.endpoint, using: .tcp)
                defer { connection.cancel() }
                connection.start(queue: DispatchQueue(label: "client"))
                try await eventually("the connection waits") { connection.state == .waiting(.posix(.ECONNREFUSED)) }
                let server = try scratch.start(peer, peer.listening(at: place), input: .held)
                try await Sockets.waitForListener(at: place)
                connection.restart()
                try await eventually("the connection is ready") { connection.state == .ready }
                try await connection.send(Data("late".utf8))
                try await server.prints("late")
            }
        }

        private static func everything(from connection: NWConnection) async throws -> Data {
            var content = Data()
            while let more = try await connection.receive(atMost: 1_000_000) { content.append(more) }
            return content
        }

        private static func echo(_ connection: NWConnection) {
            connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
                if error != nil || (isComplete && content == nil) { return connection.cancel() }
                connection.send(
                    content: content,
                    completion: .contentProcessed { error in
                        isComplete || error != nil ? connection.cancel() : echo(connection)
                    })
            }
        }
    }
}

extension Place {
    var endpoint: NWEndpoint {
        switch self {
        case .tcp(let host, let port):
            .hostPort(host: NWEndpoint.Host(host), port: NWEndpoint.Port(integerLiteral: port))
        case .unix(let path): .unix(path: path)
        }
    }
}
