import Causeway
import Foundation
import Testing

@testable import nw

extension LoopbackInterop {
    /// The files that `nw receive` leaves in its directory: after a killed run, and with `--raw`.
    @Suite("Received files")
    struct ReceivedFileTests {
        @Test("OpenSSL and the portable code compute equal digests", arguments: [0, 1, 63, 64, 100_001])
        func digests(byteCount: Int) {
            var (library, portable) = (ContentDigest(), ContentDigest(isPortable: true))
            let content = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            for piece in [content.prefix(7), content.dropFirst(7)] {
                library.update(piece)
                portable.update(piece)
            }
            #expect(library.finish() == portable.finish())
        }

        @Test(
            "Sender and receiver load OpenSSL for the digest",
            .enabled(if: TLSProgram.areMostPresent || Interop.mustRun, "openssl is not installed"))
        func libraryDigest() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let begun = try await Self.begin("half", into: inbox, from: peer, in: scratch)
                try await eventually("the receiver loads it") { try Self.hasOpenSSL(begun.receiver) }
                // This receiver takes the file and never replies, so the sender does not end.
                let place = try await scratch.newPlace(.ipv4)
                let silent = try scratch.start(peer, peer.listening(at: place), input: .held)
                try await Sockets.waitForListener(at: place)
                let url = scratch.directory.appendingPathComponent("note")
                try Data("note".utf8).write(to: url)
                let sender = try scratch.startNW(["send", url.path] + place.arguments)
                try await eventually("the file is sent") { silent.output.count > ContentDigest.byteCount }
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
                let others = ["\(IncomingFile.temporaryPrefix)link", "note"]
                try FileManager.default.createSymbolicLink(
                    atPath: inbox.appendingPathComponent(others[0]).path, withDestinationPath: "note")
                try Data("kept".utf8).write(to: inbox.appendingPathComponent(others[1]))

                let next = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"])
                _ = try await next.announcedPort()
                #expect(next.errors == "nw: receive: removed 1 unfinished file of a killed process\n")
                #expect(try Self.names(in: inbox).count == 3)

                try live.sender.write("456789")
                try live.sender.writeDigest(of: "0123456789")
                try await eventually("the live run's file is stored") {
                    try Self.names(in: inbox).contains("live")
                }
                #expect(try Set(Self.names(in: inbox)) == Set(["live"] + others))
            }
        }

        /// Starts a receiver, and a sender that stops in the middle of a ten-byte file.
        private static func begin(
            _ name: String, into inbox: URL, from peer: Peer, in scratch: Scratch
        ) async throws -> (receiver: Child, sender: Child) {
            let count = try names(in: inbox).count
            let receiver = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"])
            let port = try await receiver.announcedPort()
            let sender = try scratch.start(peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .held)
            let header = try #require(TransferHeader(name: name, byteCount: 10).encoded())
            try sender.write(String(decoding: header, as: UTF8.self) + "0123")
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

        @Test("With --raw, an oversized or reset transfer leaves nothing behind", arguments: [false, true])
        func rawRefusal(isReset: Bool) async throws {
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let receiver = try scratch.startNW(
                    ["receive", inbox.path, "--port", "0", "--host", "127.0.0.1", "--raw", "--json"]
                        + ["--maximum-size", "1000"])
                let port = try await Self.jsonPort(of: receiver)
                let client = NWConnection(host: "127.0.0.1", port: .init(integerLiteral: port), using: .tcp)
                try await client.open()
                try await client.send(Data(count: isReset ? 500 : 1_001))
                if isReset {
                    try await eventually("the file is started") { try Self.names(in: inbox).count == 1 }
                    client.forceCancel()
                } else {
                    try await client.sendEnd()
                }
                try await eventually("the refusal is reported") { receiver.text.contains(#""event":"refused""#) }
                try await eventually("nothing is left") { try Self.names(in: inbox) == [] }
                client.cancel()
            }
        }

        private static func jsonPort(of receiver: Child) async throws -> UInt16 {
            struct Line: Decodable { var port: UInt16 }
            try await eventually("the port is printed") { receiver.text.contains("\n") }
            let line = try #require(receiver.text.split(separator: "\n").first)
            return try JSONDecoder().decode(Line.self, from: Data(line.utf8)).port
        }
    }
}

extension Child {
    fileprivate func writeDigest(of text: String) throws {
        var digest = ContentDigest(isPortable: true)
        digest.update(Data(text.utf8))
        try write(Data(digest.finish()))
    }
}
