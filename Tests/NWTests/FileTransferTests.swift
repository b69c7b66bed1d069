import Foundation
import Testing

@testable import nw

extension LoopbackCommands {
    /// Tests for `nw send` and `nw receive`.
    @Suite("File transfer")
    struct FileTransferTests {
        @Test("Several files over one connection match by the system's checksum tool")
        func severalFiles() async throws {
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let (receiver, port) = try await Self.receive(into: inbox, ["--once"], in: scratch)
                let contents = ["empty": 0, "one": 1, "some": 3_000_001]
                var paths: [String] = []
                for (name, count) in contents {
                    let url = scratch.directory.appendingPathComponent(name)
                    try Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }).write(to: url)
                    paths.append(url.path)
                }
                let sender = try scratch.startNW(["send"] + paths + ["127.0.0.1", "\(port)"])
                #expect(try await sender.finished() == 0, "\(sender.errors)")
                #expect(try await receiver.finished() == 0, "\(receiver.errors)")
                for (name, count) in contents {
                    let received = try Data(contentsOf: inbox.appendingPathComponent(name))
                    #expect(received.count == count)
                    #expect(received == (try Data(contentsOf: scratch.directory.appendingPathComponent(name))))
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path).count == contents.count)
            }
        }

        @Test("An existing file is kept, unless overwriting is allowed", arguments: [false, true])
        func existingFile(mayReplace: Bool) async throws {
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                try Data("old".utf8).write(to: inbox.appendingPathComponent("note"))
                let url = scratch.directory.appendingPathComponent("note")
                try Data("new".utf8).write(to: url)
                let options = mayReplace ? ["--once", "--overwrite"] : ["--once"]
                let (receiver, port) = try await Self.receive(into: inbox, options, in: scratch)
                let sender = try scratch.startNW(["send", url.path, "127.0.0.1", "\(port)"])
                #expect(try await sender.finished() == (mayReplace ? 0 : 1))
                #expect(try await receiver.finished() == (mayReplace ? 0 : 1))
                let kept = try String(contentsOf: inbox.appendingPathComponent("note"), encoding: .utf8)
                #expect(kept == (mayReplace ? "new" : "old"))
            }
        }

        @Test(
            "Names that could leave the directory, hide in it or mislead are refused",
            arguments: [
                "", ".", "..", "/", "a/b", "../a", "/etc/passwd", "a\\b", "a\u{0}b", "a\nb", "\u{1B}[2J", "\u{202E}txt",
                "\(IncomingFile.temporaryPrefix)1",
            ])
        func refusedName(_ name: String) {
            #expect(throws: TransferHeader.Malformed.badName) { try TransferHeader.safeName(Data(name.utf8)) }
        }

        @Test(arguments: ["a", "a b", "a..", "a.profile", "Größe.txt", "写真.jpg"])
        func acceptedName(_ name: String) throws {
            #expect(try TransferHeader.safeName(Data(name.utf8)) == name)
        }

        @Test("Hidden names are refused unless they are allowed", arguments: [".bashrc", "..a", ".ssh", "..."])
        func hiddenName(_ name: String) throws {
            #expect(throws: TransferHeader.Malformed.badName) { try TransferHeader.safeName(Data(name.utf8)) }
            #expect(try TransferHeader.safeName(Data(name.utf8), allowsHidden: true) == name)
        }

        @Test("A hidden file is stored only with --hidden", arguments: [false, true])
        func hiddenFile(isAllowed: Bool) async throws {
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let url = scratch.directory.appendingPathComponent(".bashrc")
                try Data("echo".utf8).write(to: url)
                let options = isAllowed ? ["--once", "--hidden"] : ["--once"]
                let (receiver, port) = try await Self.receive(into: inbox, options, in: scratch)
                let sender = try scratch.startNW(["send", url.path, "127.0.0.1", "\(port)"])
                #expect(try await sender.finished() == (isAllowed ? 0 : 1))
                #expect(try await receiver.finished() == (isAllowed ? 0 : 1))
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: inbox.path) == (isAllowed ? [".bashrc"] : []))
                if !isAllowed { #expect(receiver.errors.contains("--hidden accepts such files"), "\(receiver.errors)") }
            }
        }

        @Test("Bytes that are not UTF-8 are not a valid name")
        func invalidText() {
            #expect(throws: TransferHeader.Malformed.badName) { try TransferHeader.safeName(Data([0x61, 0xFF])) }
        }

        /// Starts a receiver at a free port.
        private static func receive(
            into inbox: URL, _ options: [String], in scratch: Scratch
        ) async throws -> (Child, UInt16) {
            let receiver = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"] + options)
            return (receiver, try await receiver.announcedPort())
        }
    }
}
