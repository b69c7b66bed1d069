import Foundation
import Testing

extension LoopbackInterop {
    /// Tests `nw receive` with a sender from another project.
    @Suite("File transfer")
    struct FileTransferTests {
        @Test("A truncated or damaged file leaves nothing behind", arguments: [true, false])
        func brokenFile(endsEarly: Bool) async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let (receiver, port) = try await Self.receive(into: inbox, ["--once"], in: scratch)
                var stream = TransferWire.header(name: "broken", byteCount: 10)
                stream.append(Data("0123".utf8))
                let noDigest = Data(count: TransferWire.digestByteCount)
                if !endsEarly { stream.append(Data("456789".utf8) + noDigest) }
                let input = try scratch.newFile("stream")
                try stream.write(to: input)
                let sender = try scratch.start(
                    peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .file(input))
                #expect(try await receiver.finished() == 1)
                _ = try await sender.finished()
                #expect(sender.output == (endsEarly ? Data() : Data([TransferWire.checksumMismatch])))
                #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path) == [])
            }
        }

        @Test("An interrupted receiver leaves nothing behind")
        func interrupted() async throws {
            let peer = try #require(Peer.present.first)
            try await Scratch.run { scratch in
                let inbox = try scratch.newDirectory("inbox")
                let (receiver, port) = try await Self.receive(into: inbox, [], in: scratch)
                let sender = try scratch.start(peer, peer.connecting(to: .tcp("127.0.0.1", port)), input: .held)
                try sender.write(TransferWire.header(name: "broken", byteCount: 10) + Data("0123".utf8))
                try await eventually("the file is started") {
                    try FileManager.default.contentsOfDirectory(atPath: inbox.path).count == 1
                }
                try receiver.interrupt()
                #expect(try await receiver.finished() == 128 + SIGTERM, "\(receiver.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path) == [])
            }
        }

        /// Starts `nw receive` on a free port. Returns the process and the port.
        private static func receive(
            into inbox: URL, _ options: [String], in scratch: Scratch
        ) async throws -> (Child, UInt16) {
            let receiver = try scratch.startNW(["receive", inbox.path, "--port", "0", "--host", "127.0.0.1"] + options)
            return (receiver, try await receiver.announcedPort())
        }
    }
}

/// The protocol between `nw send` and `nw receive`, version 1, implemented from its description.
enum TransferWire {
    /// The prefix for the names of incomplete files.
    static let temporaryPrefix = ".nw-receive-"
    /// The length in bytes of the SHA-256 digest, which follows the file content.
    static let digestByteCount = 32
    /// The reply to content whose checksum is wrong.
    static let checksumMismatch: UInt8 = 3

    static func header(name: String, byteCount: UInt64) -> Data {
        var header = Data("NWF\u{1}".utf8)
        withUnsafeBytes(of: UInt16(name.utf8.count).bigEndian) { header.append(contentsOf: $0) }
        withUnsafeBytes(of: byteCount.bigEndian) { header.append(contentsOf: $0) }
        return header + Data(name.utf8)
    }
}
