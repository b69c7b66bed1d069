import Causeway
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw cat -lk` with several clients.
    @Suite("nw cat with several clients")
    struct CatListenerTests {
        @Test("A silent client does not delay others, and every client receives the input", arguments: Peer.present)
        func silentClient(_ peer: Peer) async throws {
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(.ipv4)
                let nw = try scratch.startNW(["cat", "-lkv"] + place.arguments, input: .held)
                try await Sockets.waitForListener(at: place)
                let silent = try scratch.start(peer, peer.connecting(to: place), input: .held)
                try await eventually("the silent client is connected") { nw.errors.contains("connection from") }
                let other = try scratch.start(peer, peer.connecting(to: place), input: .held)
                try other.write("hello\n")
                try await nw.prints("hello\n")
                try nw.write("answer\n")
                try await other.prints("answer\n")
                try await silent.prints("answer\n")
                try other.endInput()
                #expect(try await other.finished() == 0, "\(other.errors)")
                try silent.write("bye\n")
                try await nw.prints("hello\nbye\n")
            }
        }

        @Test(
            "A client without a TLS handshake does not delay others",
            .enabled(if: TLSProgram.areMostPresent || Interop.mustRun, "openssl is not installed"))
        func silentHandshake() async throws {
            let files = try await TLSFiles.shared
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(
                    ["cat", "-lkv", "--tls", "--cert", files.certificate("ec"), "--key", files.key("ec"), "0"],
                    input: .held)
                let port = try await nw.listeningPort()
                let silent = NWConnection(host: "127.0.0.1", port: .init(integerLiteral: port), using: .tcp)
                defer { silent.cancel() }
                try await silent.open()
                let client = try scratch.startOpenSSL(
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", files.certificate("root"), "-quiet"],
                    input: .held)
                try client.write("hello\n")
                try await nw.prints("hello\n")
                try nw.write("answer\n")
                try await client.prints("answer\n")
            }
        }

        @Test("A client that does not read delays the input for others by a few seconds at most")
        func deafClient() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let port = try await scratch.freePort("127.0.0.1", using: .tcp)
                let input = try scratch.newFile("input")
                try (Data(count: 30_000_000) + Data("end\n".utf8)).write(to: input)
                let nw = try scratch.startNW(["cat", "-lkv", "127.0.0.1", "\(port)"], input: .file(input))
                try await Sockets.waitForListener(at: .tcp("127.0.0.1", port))
                let deaf = NWConnection(host: "127.0.0.1", port: .init(integerLiteral: port), using: .tcp)
                defer { deaf.cancel() }
                try await deaf.open()
                try await eventually("the client that does not read is connected") {
                    nw.errors.contains("connection from")
                }
                let other = try scratch.start(peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .held)
                try await eventually("the other client gets the rest") { other.output.suffix(4) == Data("end\n".utf8) }
                #expect(nw.errors.contains("does not read its input: disconnected\n"), "\(nw.errors)")
            }
        }
    }
}
