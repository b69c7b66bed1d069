import Causeway
import Foundation
import Testing

@testable import nw

extension LoopbackCommands {
    /// The files that `nw receive` leaves in its directory, and their digests.
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

        private static func names(in directory: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path)
        }

        private static func jsonPort(of receiver: Child) async throws -> UInt16 {
            struct Line: Decodable { var port: UInt16 }
            try await eventually("the port is printed") { receiver.text.contains("\n") }
            let line = try #require(receiver.text.split(separator: "\n").first)
            return try JSONDecoder().decode(Line.self, from: Data(line.utf8)).port
        }
    }
}
