import Foundation
import Testing

extension LoopbackInterop {
    /// Tests which files `nw receive` leaves in its directory. Some tests kill the process, and some use `--raw`.
    @Suite("Received files")
    struct ReceivedFileTests {
        @Test(
            "Sender and receiver load OpenSSL for the digest",
            .enabled(if: TLSProgram.areMostPresent || Interop.mustRun, "openssl is not installed"))
        func libraryDigest() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let begun = try await Self.begin("half", into: inbox, from: peer, in: scratch)
                try await eventually("the receiver loads it") { try Self.hasOpenSSL(begun.receiver) }
                // This receiver takes the file but never replies, so the sender keeps waiting.
                let place = try await scratch.newPlace(.ipv4)
                let silent = try scratch.start(peer, peer.listening(at: place), input: .held)
                try await Sockets.waitForListener(at: place)
                let url = scratch.directory.appendingPathComponent("note")
                try Data("note".utf8).write(to: url)
                let sender = try scratch.startNW(["send", url.path] + place.arguments)
                try await eventually("the file is sent") { silent.output.count > TransferWire.digestByteCount }
                try await eventually("the sender loads it") { try Self.hasOpenSSL(sender) }
            }
        }

        /// Returns whether a program has loaded OpenSSL.
        private static func hasOpenSSL(_ child: Child) throws -> Bool {
            try String(contentsOfFile: "/proc/\(child.program())/maps", encoding: .utf8).contains("/libcrypto.so")
        }

        // MARK: Runs that were killed

        @Test("Files of a killed run are removed at the next start; files of a live run stay")
        func abandonedFiles() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let killed = try await Self.begin("killed", into: inbox, from: peer, in: scratch)
                let live = try await Self.begin("live", into: inbox, from: peer, in: scratch)
                #expect(try Self.names(in: inbox).count == 2)
                kill(try killed.receiver.program(), SIGKILL)
                #expect(try await killed.receiver.finished() == 128 + SIGKILL)
                let others = ["\(TransferWire.temporaryPrefix)link", "note"]
                try FileManager.default.createSymbolicLink(
                    atPath: inbox.appendingPathComponent(others[0]).path, withDestinationPath: "note")
                try Data("kept".utf8).write(to: inbox.appendingPathComponent(others[1]))

                let next = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"])
                _ = try await next.announcedPort()
                #expect(next.errors == "nw: receive: removed 1 unfinished file of a killed process\n")
                #expect(try Self.names(in: inbox).count == 3)

                try live.sender.write("456789")
                try live.sender.write(Self.digest)
                try await eventually("the live run's file is stored") {
                    try Self.names(in: inbox).contains("live")
                }
                #expect(try Set(Self.names(in: inbox)) == Set(["live"] + others))
            }
        }

        /// The SHA-256 of `0123456789`.
        private static let digest = Data([
            0x84, 0xD8, 0x98, 0x77, 0xF0, 0xD4, 0x04, 0x1E, 0xFB, 0x6B, 0xF9, 0x1A, 0x16, 0xF0, 0x24, 0x8F, 0x2F, 0xD5,
            0x73, 0xE6, 0xAF, 0x05, 0xC1, 0x9F, 0x96, 0xBE, 0xDB, 0x9F, 0x88, 0x2F, 0x78, 0x82,
        ])

        /// Starts a receiver, and a sender that stops in the middle of a ten-byte file.
        private static func begin(
            _ name: String, into inbox: URL, from peer: Peer, in scratch: Scratch
        ) async throws -> (receiver: Child, sender: Child) {
            let count = try names(in: inbox).count
            let receiver = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"])
            let port = try await receiver.announcedPort()
            let sender = try scratch.start(peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .held)
            try sender.write(TransferWire.header(name: name, byteCount: 10) + Data("0123".utf8))
            try await eventually("the file is started") { try names(in: inbox).count == count + 1 }
            return (receiver, sender)
        }

        private static func names(in directory: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path)
        }

        // MARK: Raw

        static let contents: [(label: String, name: String, content: Data)] = [
            ("empty", "bin", Data()),
            ("text", "txt", Data("Grüße\n".utf8)),
            ("PNG image", "png", Data([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]) + Data(repeating: 7, count: 8_000)),
            ("JPEG image", "jpg", Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 1])),
            ("data", "bin", Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })),
        ]

        @Test("With --raw each connection becomes a file, named after its sender and its type")
        func raw() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let receiver = try scratch.startNW(
                    ["receive", inbox.path, "--port", "0", "--host", "127.0.0.1", "--raw", "-v"])
                let port = try await receiver.announcedPort()
                for (label, name, content) in Self.contents {
                    let input = try scratch.newFile("input")
                    try content.write(to: input)
                    let before = try Set(Self.names(in: inbox))
                    let sender = try scratch.start(
                        peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .file(input))
                    #expect(try await sender.finished() == 0, "\(sender.errors)")
                    try await eventually("\(label) is reported") {
                        receiver.text.contains(" (\(label)) from 127.0.0.1:")
                    }
                    let stored = try #require(Set(Self.names(in: inbox)).subtracting(before).first)
                    #expect(stored.hasSuffix(".\(name)") && stored.contains("Z-127.0.0.1-"), "\(stored)")
                    #expect(try Data(contentsOf: inbox.appendingPathComponent(stored)) == content)
                }
                try await eventually("the peers are reported") {
                    receiver.errors.components(separatedBy: " ended\n").count == Self.contents.count + 1
                }
                try receiver.interrupt()
                #expect(try await receiver.finished() == 0, "\(receiver.errors)")
                #expect(receiver.errors.components(separatedBy: " connected\n").count == Self.contents.count + 1)
            }
        }
    }
}
