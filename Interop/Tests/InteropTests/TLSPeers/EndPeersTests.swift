import Causeway
import Dispatch
import Foundation
import Testing

extension LoopbackInterop.TLSPeers {
    /// Tests complete content, truncated content, and requests that a peer may not make.
    @Suite("Content and ends")
    struct Ends {
        @Test("100 MB each way between Python and a Causeway client", arguments: TLSChoice.allCases)
        func bulkClient(_ version: TLSChoice) async throws {
            guard TLSProgram.isReady("python3", TLSProgram.python.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let server = try PythonPeer.startTLS(
                    ["serve", "bulk", "\(port)", "--cert", files.certificate("ec"), "--key", files.key("ec")]
                        + ["--file", try Payload.large.file.path], in: scratch)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let options = try TLSParty.client(files, version: version)
                let connection = TLSParty.connection(to: port, NWParameters(tls: options))
                defer { connection.cancel() }
                try await connection.open()
                let content = try Data(contentsOf: Payload.large.file, options: .alwaysMapped)
                try await Self.send(content, over: connection)
                let isSame = try await Self.expect(content, from: connection)
                #expect(isSame, "Python sent something else")
                try await connection.sendEnd()
                #expect(try await connection.receive(atMost: 1) == nil)
                #expect(try await server.finished() == 0, "\(server.errors)")
                #expect(server.text.contains("same"))
            }
        }

        @Test("100 MB each way between a Causeway server and Python")
        func bulkServer() async throws {
            guard TLSProgram.isReady("python3", TLSProgram.python.isPresent) else { return }
            let files = try await TLSFiles.shared
            let content = try Data(contentsOf: Payload.large.file, options: .alwaysMapped)
            try await Scratch.run { scratch in
                try await InProcessServer.run(NWParameters(tls: try TLSParty.server(files))) { connection in
                    // The client reads only after it has sent everything, so this side must read first.
                    let isSame = try await Self.expect(content, from: connection)
                    #expect(isSame, "Python sent something else")
                    try await Self.send(content, over: connection)
                    _ = try await connection.everything()
                } _: { _, port in
                    let client = try PythonPeer.startTLS(
                        ["connect", "bulk", "\(port)", "--ca", files.certificate("root")]
                            + ["--file", try Payload.large.file.path], in: scratch)
                    #expect(try await client.finished() == 0, "\(client.errors)")
                    #expect(client.text.contains("same"))
                }
            }
        }

        private static func send(_ content: Data, over connection: NWConnection) async throws {
            var offset = 0
            while offset < content.count {
                let end = min(offset + 1 << 20, content.count)
                try await connection.send(Data(content[offset..<end]))
                offset = end
            }
        }

        private static func expect(_ content: Data, from connection: NWConnection) async throws -> Bool {
            var offset = 0
            var isSame = true
            while offset < content.count, let piece = try await connection.receive(atMost: content.count - offset) {
                isSame = isSame && piece == content[offset..<(offset + piece.count)]
                offset += piece.count
            }
            return isSame && offset == content.count
        }

        // MARK: Goodbyes

        @Test("Each side sends its close_notify, one after the other", arguments: TLSChoice.allCases)
        func goodbyes(_ version: TLSChoice) async throws {
            try await Self.withPython("goodbye", version) { connection, peer in
                #expect(try await connection.line() == "first\n")
                try await connection.send(Data("ours\n".utf8))
                try await connection.sendEnd()
                // The peer has read our stream to its end, and can still send data.
                #expect(try await connection.everything() == Data("last\n".utf8))
                #expect(try await peer.finished() == 0, "\(peer.errors)")
                #expect(peer.text.hasSuffix("got ours\nclean\n"), "\(peer.text)")
            }
        }

        @Test("Cancelling sends a close_notify", arguments: TLSChoice.allCases)
        func goodbyeOnCancel(_ version: TLSChoice) async throws {
            try await Self.withPython("goodbye", version) { connection, peer in
                #expect(try await connection.line() == "first\n")
                connection.cancel()
                // This shows that the peer has received a close_notify. Without one, the peer would fail earlier, while
                // it reads.
                try await eventually("the peer has read our end: \(peer.errors)") {
                    peer.errors.contains("unwrap") || peer.errors.contains("sendall") || peer.text.contains("clean")
                }
            }
        }

        @Test("An end of the transport without a close_notify is an error", arguments: TLSChoice.allCases)
        func truncation(_ version: TLSChoice) async throws {
            try await Self.withPython("truncate", version) { connection, _ in
                #expect(try await connection.text(4) == "half")
                try await connection.send(Data("go\n".utf8))
                await #expect(throws: NWError.tls(errSSLClosedNoNotify)) { try await connection.receive(atMost: 1) }
                try await eventually("the connection fails") { connection.state == .failed(.tls(errSSLClosedNoNotify)) }
            }
        }

        private static func withPython(
            _ act: String, _ version: TLSChoice, _ body: (NWConnection, Child) async throws -> Void
        ) async throws {
            guard TLSProgram.isReady("python3", TLSProgram.python.isPresent) else { return }
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let peer = try PythonPeer.startTLS(
                    ["serve", act, "\(port)", "--cert", files.certificate("ec"), "--key", files.key("ec")]
                        + ["--version", version.python], in: scratch)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let connection = TLSParty.connection(to: port, NWParameters(tls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                try await body(connection, peer)
            }
        }

        // MARK: Refused requests

        @Test("A Causeway server refuses renegotiation by s_client")
        func renegotiationByClient() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let options = try TLSParty.server(files, version: .v12)
                try await InProcessServer.run(NWParameters(tls: options)) { connection in
                    try await connection.send(Data("welcome\n".utf8))
                    _ = try await connection.everything()
                } _: { _, port in
                    let client = try scratch.startOpenSSL(
                        ["s_client", "-connect", "127.0.0.1:\(port)"], input: .held)
                    try await eventually("s_client is accepted") { client.text.contains("welcome\n") }
                    try client.write("R\n")
                    try await eventually("s_client is refused: \(client.errors)") {
                        client.errors.contains("no renegotiation")
                    }
                }
            }
        }

        @Test("A Causeway client refuses renegotiation by s_server")
        func renegotiationByServer() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let server = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-tls1_2"]
                        + ["-cert", files.certificate("ec"), "-key", files.key("ec")], input: .held)
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let connection = TLSParty.connection(to: port, NWParameters(tls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                try server.write("R\n")
                try await eventually("s_server is refused: \(server.text) \(server.errors)") {
                    (server.text + server.errors).contains("no renegotiation")
                }
            }
        }

        // MARK: OCSP responses

        @Test("A stapled OCSP response is passed to the program", arguments: TLSChoice.allCases)
        func staple(_ version: TLSChoice) async throws {
            try await Self.withStaple("good", version) { files, port in
                let connection = TLSParty.connection(to: port, NWParameters(tls: try TLSParty.client(files)))
                defer { connection.cancel() }
                try await connection.open()
                let statements = Statements()
                let security = try #require(connection.security)
                #expect(sec_protocol_metadata_access_ocsp_response(security) { statements.list.append(Data($0)) })
                #expect(statements.list == [try Data(contentsOf: files.folder.appendingPathComponent("good.ocsp"))])
            }
        }

        private final class Statements {
            var list: [Data] = []
        }

        private static func withStaple(
            _ status: String, _ version: TLSChoice, _ body: (TLSFiles, UInt16) async throws -> Void
        ) async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                _ = try scratch.startOpenSSL(
                    ["s_server", "-accept", "127.0.0.1:\(port)", "-rev", "-quiet", version.openSSL]
                        + ["-cert", files.certificate("ec"), "-key", files.key("ec")]
                        + ["-status_file", files.path("\(status).ocsp")])
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                try await body(files, port)
            }
        }
    }
}
