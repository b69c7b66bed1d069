import Causeway
import Foundation
import Testing

extension LoopbackInterop {
    /// Tests datagrams between `nw cat -u` and each installed program. `nw` is the client in some tests, and the server
    /// in others.
    @Suite("Datagrams", .enabled(if: !Peer.present.isEmpty, "no peer is installed"))
    struct DatagramTests {
        struct Pair: CustomTestStringConvertible, Sendable {
            var peer: Peer
            var host: String
            var size: Int

            var testDescription: String { "\(peer), \(host), \(size) bytes" }

            static let all = Peer.present.flatMap { peer in
                (Medium.hasIPv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"]).flatMap { host in
                    // Ncat reads its input in blocks of 8 KiB. So the largest test size is 8,000 bytes.
                    [1, 1_200, 8_000].map { Pair(peer: peer, host: host, size: $0) }
                }
            }

            var question: String { String(repeating: "?", count: size) }
            var answer: String { String(repeating: "!", count: size) }
        }

        @Test("nw asks", arguments: Pair.all)
        func asks(_ pair: Pair) async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort(NWEndpoint.Host(pair.host), using: .udp)
                let peer = try scratch.start(
                    pair.peer, pair.peer.listeningDatagrams(host: pair.host, port: port), input: .held)
                try await Sockets.waitForDatagramSocket(port: port)
                let nw = try scratch.startNW(["cat", "-u", "-N", pair.host, "\(port)"], input: .held)
                try nw.write(pair.question)
                try await peer.prints(pair.question)
                try peer.write(pair.answer)
                try await nw.prints(pair.answer)
                try nw.endInput()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
            }
        }

        @Test("nw answers", arguments: Pair.all)
        func answers(_ pair: Pair) async throws {
            try await Scratch.run { scratch in
                let port = try await scratch.freePort(NWEndpoint.Host(pair.host), using: .udp)
                let nw = try scratch.startNW(["cat", "-u", "-l", "-N", pair.host, "\(port)"], input: .held)
                try await Sockets.waitForDatagramSocket(port: port)
                let peer = try scratch.start(
                    pair.peer, pair.peer.connectingDatagrams(host: pair.host, port: port), input: .held)
                try peer.write(pair.question)
                try await nw.prints(pair.question)
                try nw.write(pair.answer)
                try await peer.prints(pair.answer)
                try nw.endInput()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
            }
        }
    }
}
