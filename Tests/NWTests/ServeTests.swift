import Causeway
import Foundation
import Testing

extension LoopbackCommands {
    /// `nw serve`: transports, reports about peers, and a graceful end.
    @Suite("nw serve")
    struct ServeTests {
        @Test("Echo over UDP, and over both transports on one port", arguments: [["--udp"], ["--tcp", "--udp"]])
        func datagrams(_ options: [String]) async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "echo", "--port", "0", "-v"] + options)
                let port = try await server.announcedPort()
                if options.count == 2 {
                    try await eventually("both are ready") { server.text.contains("listening on UDP port \(port)\n") }
                }
                for way in options.count == 2 ? [[], ["-u"]] : [["-u"]] {
                    for host in ["127.0.0.1", "::1"] where host == "127.0.0.1" || Medium.hasIPv6 {
                        let echo = try scratch.startNW(["echo", host, "\(port)", "-c3", "-i0", "-s1200"] + way)
                        #expect(try await echo.finished() == 0, "\(echo.errors)")
                    }
                }
                #expect(server.errors.contains(" (UDP) connected\n"), "\(server.errors)")
                try server.interrupt()
                #expect(try await server.finished() == 128 + SIGTERM, "\(server.errors)")
            }
        }

        @Test("Datagrams from the port of another echo server are not answered")
        func echoLoop() async throws {
            try await Scratch.run { scratch in
                let first = try scratch.startNW(["serve", "echo", "--port", "0", "--udp", "--host", "127.0.0.1", "-v"])
                let port = NWEndpoint.Port(integerLiteral: try await first.announcedPort())
                let parameters = NWParameters.udp
                // Simulates a server on another host that uses the same port.
                parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.2", port: port)
                let twin = NWConnection(host: "127.0.0.1", port: port, using: parameters)
                defer { twin.cancel() }
                try await twin.open()
                let other = NWConnection(host: "127.0.0.1", port: port, using: .udp)
                defer { other.cancel() }
                try await other.open()
                try await twin.send(Data("loop".utf8))
                try await other.send(Data("hello".utf8))
                #expect(try await other.receive(atMost: 100) == Data("hello".utf8))
                #expect(first.errors.components(separatedBy: " connected\n").count == 2, "\(first.errors)")
                #expect(!first.errors.contains("127.0.0.2"))
            }
        }

        @Test("-v prints a line for the beginning and the end of each connection; --json prints objects")
        func reports() async throws {
            try await Scratch.run { scratch in
                let plain = try scratch.startNW(["serve", "echo", "--port", "0", "-v"])
                let port = try await plain.announcedPort()
                let echo = try scratch.startNW(["echo", "127.0.0.1", "\(port)", "-c2", "-i0", "-s100"])
                #expect(try await echo.finished() == 0, "\(echo.errors)")
                try await eventually("the end is reported") {
                    plain.errors.contains(" ended: received 200 bytes, sent 200 bytes\n")
                }
                #expect(plain.errors.hasPrefix("nw: serve: 127.0.0.1:") && plain.errors.contains(" connected\n"))

                struct Line: Decodable {
                    var event: String
                    var port: UInt16?
                    var received: Int?
                }
                let json = try scratch.startNW(["serve", "sink", "--port", "0", "--json"])
                func lines() -> [Line] {
                    json.text.split(separator: "\n").compactMap {
                        try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
                    }
                }
                try await eventually("the port is printed") { lines().first?.port != nil }
                let place = try #require(NWEndpoint.Port(rawValue: lines()[0].port ?? 0))
                let client = NWConnection(host: "127.0.0.1", port: place, using: .tcp)
                try await client.open()
                try await client.send(Data(count: 1_000))
                try await client.sendEnd()
                try await eventually("the end is reported") {
                    lines().map(\.event) == ["listening", "connected", "ended"]
                }
                #expect(lines()[2].received == 1_000)
                client.cancel()
            }
        }

        @Test("After an interrupt, no new connection is accepted, and open ones have time to end")
        func orderlyEnd() async throws {
            try await Scratch.run { scratch in
                let server = try scratch.startNW(["serve", "echo", "--port", "0", "--host", "127.0.0.1"])
                let port = NWEndpoint.Port(integerLiteral: try await server.announcedPort())
                let client = NWConnection(host: "127.0.0.1", port: port, using: .tcp)
                defer { client.cancel() }
                try await client.open()
                try await client.send(Data("before".utf8))
                #expect(try await client.receive(atMost: 100) == Data("before".utf8))
                try server.interrupt()
                try await eventually("the listener is closed") { !Sockets.isListening(onTCPPort: port.rawValue) }
                try await client.send(Data("after".utf8))
                #expect(try await client.receive(atMost: 100) == Data("after".utf8))
                try await client.sendEnd()
                #expect(try await client.receive(atMost: 100) == nil)
                #expect(try await server.finished() == 128 + SIGTERM, "\(server.errors)")
            }
        }
    }
}
