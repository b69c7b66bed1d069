import Foundation
import Testing

extension Interop {
    /// Tests a client with two networks. The preferred network drops all packets.
    @Suite(
        "Interfaces as candidates",
        .enabled(if: (TwoPaths.isAvailable && Peer.find("nft") != nil) || Interop.mustRun, "no namespaces, or no nft"))
    struct InterfaceRaceTests {
        private func connect(
            _ words: [String], _ hosts: TwoPaths, _ scratch: Scratch
        ) async throws -> EstablishmentTests.Report {
            let nw = try hosts.start(["connect", "--timeline", "--json"] + words, on: hosts.client, in: scratch)
            _ = try await nw.finished()
            return try JSONDecoder().decode(EstablishmentTests.Report.self, from: nw.output)
        }

        private func swallow(_ link: String, _ hosts: TwoPaths, _ scratch: Scratch) async throws {
            let rules = [
                "add table inet t", "add chain inet t c { type filter hook prerouting priority -300; }",
                "add rule inet t c iifname \"to-\(link)\" drop",
            ]
            for rule in rules {
                let nft = try scratch.start(try #require(Peer.find("nft")), [rule], on: hosts.server)
                #expect(try await nft.finished() == 0, "\(nft.errors)")
            }
        }

        private func run(_ body: (TwoPaths, Scratch) async throws -> Void) async throws {
            try await TwoPaths.run { hosts, scratch in
                let server = try hosts.start(["serve", "echo", "--port", "7000"], on: hosts.server, in: scratch)
                try await eventually("the server listens") {
                    !server.output.isEmpty || server.errors.contains("listening")
                }
                try await body(hosts, scratch)
            }
        }

        @Test(
            "The preferred network drops packets: the connection uses the other network",
            arguments: ["10.77.9.9", "fd77:9::9"])
        func blackHole(_ host: String) async throws {
            try await run { hosts, scratch in
                try await swallow("wifi0", hosts, scratch)
                let report = try await connect([host, "7000"], hosts, scratch)
                #expect(report.interface == "cell0", "\(report)")
                #expect(report.attempts.map(\.outcome) == ["abandoned", "connected"])
                #expect(report.attempts.last?.label.hasSuffix(" over cell0") == true)
                // RFC 8305 requires a delay between two attempts. So the second attempt must start late. The test
                // prints its start time.
                let starts = report.attempts.map(\.start)
                #expect(starts.count == 2 && starts[1] - starts[0] >= 250)
                print("\(host): the second interface is tried after \(starts), connected after \(report.total ?? 0) ms")
            }
        }

        @Test("If the first network answers, no other is tried")
        func works() async throws {
            try await run { hosts, scratch in
                let report = try await connect(["10.77.9.9", "7000"], hosts, scratch)
                #expect(report.interface == "wifi0")
                #expect(report.attempts.count == 1)
            }
        }

        @Test("A host that refuses is not tried again over the other network")
        func refused() async throws {
            try await run { hosts, scratch in
                let report = try await connect(["10.77.9.9", "7001"], hosts, scratch)
                #expect(report.problem?.contains("Connection refused") == true)
                #expect(report.attempts.count <= 1, "\(report)")
            }
        }

        @Test("If both networks drop packets, both are tried, and the connection waits")
        func nothing() async throws {
            try await run { hosts, scratch in
                for link in ["wifi0", "cell0"] { try await swallow(link, hosts, scratch) }
                let report = try await connect(["-w", "2", "10.77.9.9", "7000"], hosts, scratch)
                #expect(report.winner == nil && report.problem != nil)
            }
        }

        @Test("A network that the program prohibits is not tried, whether or not it drops packets")
        func prohibited() async throws {
            try await run { hosts, scratch in
                try await swallow("wifi0", hosts, scratch)
                let status = try hosts.start(
                    ["status", "10.77.9.9", "7000", "--connect", "--json", "--prohibit", "cellular"], on: hosts.client,
                    in: scratch)
                try await eventually("it prepares") {
                    String(decoding: status.output, as: UTF8.self).contains("preparing")
                }
                // A connection tries the other network after a short delay. This wait is several times as long as that
                // delay.
                try await Task.sleep(for: .seconds(1))
                #expect(!String(decoding: status.output, as: UTF8.self).contains("ready"))
            }
        }
    }
}
