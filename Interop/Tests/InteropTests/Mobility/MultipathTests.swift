import Foundation
import Testing

extension Interop {
    /// Connections over two networks at once (RFC 8684). The test registers the second network with the kernel's path manager, as an
    /// administrator would.
    @Suite("Multipath TCP", .enabled(if: TwoPaths.isAvailable, "network namespaces need root and ip(8)"))
    struct MultipathTests {
        private static let secondPath = "mptcp endpoint add 10.77.2.2 dev cell0 subflow"

        @Test("A connection is viable as long as one of its subflows is, and has the path of that subflow")
        func viability() async throws {
            try await TwoPaths.run { hosts, scratch in
                try hosts.ip([Self.secondPath], on: hosts.client)
                // A second subflow joins only after the peer has acknowledged content. So the server sends a line
                // first.
                let greeting = "echo hello | exec \(try Built.nw()) cat -l -v --multipath handover 7200"
                let server = try scratch.start("/bin/sh", ["-c", greeting], on: hosts.server)
                try await eventually("the server listens") { server.errors.contains("listening") }
                let monitor = try hosts.start(["path", "--watch", "--json"], on: hosts.client, in: scratch)
                let connection = try hosts.start(
                    ["status", "10.77.9.9", "7200", "--connect", "--json", "--multipath", "handover"],
                    on: hosts.client, in: scratch)
                var told = Told(monitor: monitor, connection: connection)
                try await told.expect(.ready, isExact: true, "at first")
                try await eventually("the second subflow has joined") { try hosts.subflows(to: 7_200) == 2 }
                try hosts.ip(["link set wifi0 down"], on: hosts.client)
                try await told.expect(
                    .both(["path cell0 46$"], ["path cell0"]), isExact: true, "the first subflow is lost")
                try hosts.ip(["link set to-cell0 down"], on: hosts.server)
                try await told.expect(
                    .both(["path none"], ["path none", "viable false"]), isExact: true, "without any")
                try hosts.ip(["link set to-cell0 up"], on: hosts.server)
                try await told.expect(
                    .both(["path cell0 46$"], ["path cell0", "viable true"]), isExact: true,
                    "the second subflow is back")
            }
        }

        @Test("Both networks carry a transfer; after the loss of the better one, the other one completes it")
        func transfer() async throws {
            try await TwoPaths.run { hosts, scratch in
                try hosts.ip([Self.secondPath], on: hosts.client)
                let inbox = try scratch.newDirectory("inbox")
                _ = try hosts.start(
                    ["receive", inbox.path, "--port", "7300", "--multipath", "aggregate"], on: hosts.server, in: scratch
                )
                try await eventually("the receiver listens") { (try? hosts.listens(7_300)) == true }
                for link in ["wifi0", "cell0"] { try hosts.shape(link: link, rate: "40mbit") }
                let both = try await send("both", to: hosts, in: scratch) {}
                #expect(both.allSatisfy { $0.value > 500_000 } && both.count == 2, "\(both)")
                let before = try ["wifi0", "cell0"].map { try hosts.sent(over: $0) }.reduce(0, +)
                let pulled = try await send("pulled", to: hosts, in: scratch) {
                    try await eventually("the transfer is under way") {
                        // The kernel decides how to divide the load. So count the bytes on both networks together.
                        try ["wifi0", "cell0"].map { try hosts.sent(over: $0) }.reduce(0, +) > before + 1_000_000
                    }
                    try hosts.ip(["link set to-wifi0 down"], on: hosts.server)
                }
                #expect((pulled["cell0"] ?? 0) > 3_000_000, "\(pulled)")
                let names = ["both", "pulled"]
                let contents = try names.map { try Data(contentsOf: inbox.appendingPathComponent($0)) }
                #expect(contents == names.map(payload))
            }
        }

        @Test("With a server without Multipath TCP, the connection uses TCP, and the program is notified")
        func fallback() async throws {
            try await TwoPaths.run { hosts, scratch in
                _ = try hosts.start(["serve", "echo", "--port", "7400"], on: hosts.server, in: scratch)
                try await eventually("the server listens") { (try? hosts.listens(7_400)) == true }
                let question = try scratch.newFile("question")
                try Data("over one path\n".utf8).write(to: question)
                let client = try scratch.start(
                    try Built.nw(), ["cat", "-v", "-N", "--multipath", "interactive", "10.77.9.9", "7400"],
                    on: hosts.client, input: .file(question))
                #expect(try await client.finished() == 0)
                try await client.prints("over one path\n")
                #expect(client.errors.contains("over TCP: the peer does not support Multipath TCP"))
            }
        }

        private func payload(_ name: String) -> Data {
            let seed = UInt8(truncatingIfNeeded: name.count)
            return Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 9) &+ seed })
        }

        /// Sends a file. Returns the number of bytes that the sender reports for each network.
        private func send(
            _ name: String, to hosts: TwoPaths, in scratch: Scratch, meanwhile: () async throws -> Void
        ) async throws -> [String: UInt64] {
            let file = scratch.directory.appendingPathComponent(name)
            try payload(name).write(to: file)
            let before = try ["wifi0", "cell0"].map { try hosts.sent(over: $0) }
            let sender = try hosts.start(
                ["send", "-v", "--multipath", "aggregate", file.path, "10.77.9.9", "7300"], on: hosts.client,
                in: scratch)
            try await meanwhile()
            #expect(try await sender.finished() == 0, "\(sender.errors)")
            #expect(sender.errors.contains("over Multipath TCP\nnw: send: wifi0: sent "), "\(sender.errors)")
            #expect(sender.errors.contains("\nnw: send: cell0: sent "), "\(sender.errors)")
            return [
                "wifi0": try hosts.sent(over: "wifi0") - before[0], "cell0": try hosts.sent(over: "cell0") - before[1],
            ]
        }
    }
}
