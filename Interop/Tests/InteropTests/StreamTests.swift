import Foundation
import Testing

extension LoopbackInterop {
    /// Tests that `nw cat` transfers data in both directions, as client and as server.
    @Suite("Streams", .enabled(if: !Peer.present.isEmpty, "no peer is installed"))
    struct StreamTests {
        /// A peer program, the medium to reach it, and the amount of data.
        struct Case: CustomTestStringConvertible, Sendable {
            var peer: Peer
            var medium: Medium
            var payload: Payload

            var testDescription: String { "\(peer), \(medium), \(payload)" }

            static let all = Peer.present.flatMap { peer in
                Medium.present.flatMap { medium in
                    Payload.allCases.map { Case(peer: peer, medium: medium, payload: $0) }
                }
            }
        }

        @Test("nw connects and sends", arguments: Case.all)
        func connectsAndSends(_ test: Case) async throws {
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(test.medium)
                let peer = try scratch.start(test.peer, test.peer.listening(at: place))
                try await Sockets.waitForListener(at: place)
                let nw = try scratch.startNW(["cat", "-N"] + place.arguments, input: .file(try test.payload.file))
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                _ = try await peer.finished()
                try test.payload.expect(peer.output, from: peer.name)
                #expect(nw.output.isEmpty)
            }
        }

        @Test("nw connects and receives", arguments: Case.all)
        func connectsAndReceives(_ test: Case) async throws {
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(test.medium)
                let peer = try scratch.start(
                    test.peer, test.peer.listening(at: place), input: .file(try test.payload.file))
                try await Sockets.waitForListener(at: place)
                let nw = try scratch.startNW(["cat"] + place.arguments)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                try test.payload.expect(nw.output, from: nw.name)
                _ = try await peer.finished()
            }
        }

        @Test("nw listens and sends", arguments: Case.all)
        func listensAndSends(_ test: Case) async throws {
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(test.medium)
                let nw = try scratch.startNW(
                    ["cat", "-l", "-N"] + place.arguments, input: .file(try test.payload.file))
                try await Sockets.waitForListener(at: place)
                let peer = try scratch.start(test.peer, test.peer.connecting(to: place))
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                _ = try await peer.finished()
                try test.payload.expect(peer.output, from: peer.name)
                #expect(nw.output.isEmpty)
            }
        }

        @Test("nw listens and receives", arguments: Case.all)
        func listensAndReceives(_ test: Case) async throws {
            try await Scratch.run { scratch in
                let place = try await scratch.newPlace(test.medium)
                let nw = try scratch.startNW(["cat", "-l"] + place.arguments)
                try await Sockets.waitForListener(at: place)
                let peer = try scratch.start(
                    test.peer, test.peer.connecting(to: place), input: .file(try test.payload.file))
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                try test.payload.expect(nw.output, from: nw.name)
                _ = try await peer.finished()
            }
        }
    }
}
