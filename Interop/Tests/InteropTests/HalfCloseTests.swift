import Foundation
import Testing

extension LoopbackInterop {
    /// Tests half-closed connections. One side ends its sending direction first. The other side continues to send, and
    /// every byte arrives.
    @Suite("Half-close", .enabled(if: !Peer.present.isEmpty, "no peer is installed"))
    struct HalfCloseTests {
        struct Pair: CustomTestStringConvertible, Sendable {
            var peer: Peer
            var medium: Medium
            var peerListens: Bool

            var testDescription: String { "\(peer) \(peerListens ? "listens" : "connects"), \(medium)" }

            static let all = Peer.present.flatMap { peer in
                Medium.present.flatMap { medium in
                    [true, false].map { Pair(peer: peer, medium: medium, peerListens: $0) }
                }
            }
            /// Pairs of programs that keep working after nw has closed its side. Most versions of netcat exit at that
            /// time if they are the listening side.
            static let patient = all.filter { !$0.peerListens || $0.peer == .socat }
        }

        @Test("nw closes first", arguments: Pair.patient)
        func nwEndsFirst(_ pair: Pair) async throws {
            try await Scratch.run { scratch in
                let (nw, peer) = try await Self.connect(pair, in: scratch)
                try nw.write("the question")
                try nw.endInput()
                try await peer.prints("the question")
                try peer.write("the answer, ")
                try await nw.prints("the answer, ")
                try peer.write("after the end")
                try peer.endInput()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                try await nw.prints("the answer, after the end")
                _ = try await peer.finished()
            }
        }

        @Test("The peer closes first", arguments: Pair.all)
        func peerEndsFirst(_ pair: Pair) async throws {
            try await Scratch.run { scratch in
                let (nw, peer) = try await Self.connect(pair, in: scratch)
                try peer.write("the question")
                try peer.endInput()
                try await nw.prints("the question")
                try nw.write("the answer, ")
                try await peer.prints("the answer, ")
                try nw.write("after the end")
                try nw.endInput()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                _ = try await peer.finished()
                try await peer.prints("the answer, after the end")
            }
        }

        private static func connect(_ pair: Pair, in scratch: Scratch) async throws -> (nw: Child, peer: Child) {
            let place = try await scratch.newPlace(pair.medium)
            if pair.peerListens {
                let peer = try scratch.start(pair.peer, pair.peer.listening(at: place), input: .held)
                try await Sockets.waitForListener(at: place)
                return (try scratch.startNW(["cat", "-N"] + place.arguments, input: .held), peer)
            }
            let nw = try scratch.startNW(["cat", "-l", "-N"] + place.arguments, input: .held)
            try await Sockets.waitForListener(at: place)
            return (nw, try scratch.start(pair.peer, pair.peer.connecting(to: place), input: .held))
        }
    }
}
