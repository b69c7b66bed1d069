import Foundation
import Testing

extension Interop {
    /// Tests name resolution and connection races between two hosts. On the far host, unbound is the DNS server.
    @Suite(
        "Connection establishment by name",
        .enabled(if: NamedHosts.isPossible || Interop.mustRun, "no namespaces, ip(8) or unbound"))
    struct EstablishmentTests {
        struct Report: Decodable {
            struct Entry: Decodable {
                var kind: String
                var label: String
                var start: Double
                var end: Double?
                var outcome: String
            }
            var winner: String?
            var interface: String?
            /// The duration of the whole establishment in milliseconds.
            var total: Double?
            var problem: String?
            var entries: [Entry]
            var attempts: [Entry] { entries.filter { $0.kind == "attempt" } }
        }

        struct Answer: Decodable {
            struct Address: Decodable {
                var address: String
                var origin: String
            }
            struct Record: Decodable {
                var type: String
                var content: String
            }
            var addresses: [Address]
            var records: [Record]
            var problem: String?
        }

        private func connect(_ words: [String], _ hosts: TwoHosts, _ scratch: Scratch) async throws -> Report {
            let nw = try scratch.start(
                try Built.nw(), ["connect", "--timeline", "--json"] + words, on: hosts.near)
            _ = try await nw.finished()
            return try JSONDecoder().decode(Report.self, from: nw.output)
        }

        private func resolve(_ words: [String], _ hosts: TwoHosts, _ scratch: Scratch) async throws -> Answer {
            let nw = try scratch.start(try Built.nw(), ["resolve", "--json"] + words, on: hosts.near)
            _ = try await nw.finished()
            return try JSONDecoder().decode(Answer.self, from: nw.output)
        }

        @Test("If both families work, IPv6 is used and nothing else is tried")
        func works() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["both.test", "7000"], hosts, scratch)
                #expect(report.winner == "[\(NamedHosts.far6)]:7000")
                #expect(report.attempts.count == 1)
            }
        }

        @Test("If IPv6 packets are dropped, IPv4 connects while IPv6 is still tried")
        func blackHole() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["hole.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.far4):7000")
                #expect(report.attempts.map(\.outcome) == ["abandoned", "connected"])
            }
        }

        @Test("If IPv6 refuses, IPv4 is tried at once")
        func refused() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["v4only.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.other4):7000")
                #expect(report.attempts.count == 2)
                #expect(report.attempts.first?.outcome.contains("Connection refused") == true)
            }
        }

        @Test("If all addresses refuse, the error says so")
        func allRefused() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["both.test", "7001"], hosts, scratch)
                #expect(report.winner == nil)
                #expect(report.problem?.contains("Connection refused") == true)
                #expect(report.attempts.count == 2)
            }
        }

        @Test("One of two DNS servers is unreachable, in either order", arguments: ["10.77.8.99", "127.9.9.9"])
        func deadServer(_ dead: String) async throws {
            try await NamedHosts.run(resolv: "nameserver \(dead)\nnameserver \(TwoHosts.far4)\n") { hosts, scratch in
                let report = try await connect(["both.test", "7000"], hosts, scratch)
                #expect(report.winner == "[\(NamedHosts.far6)]:7000", "\(report)")
                #expect(report.attempts.count == 1)
            }
        }

        @Test("A DNS server over IPv6, aliases, search domains, and names that do not exist")
        func names() async throws {
            try await NamedHosts.run(resolv: "nameserver \(TwoHosts.far6)\nsearch sub.test test\n") { hosts, scratch in
                let alias = try await resolve(["alias"], hosts, scratch)
                #expect(alias.addresses.map(\.address) == [TwoHosts.far4])
                let missing = try await resolve(["nothing.test"], hosts, scratch)
                #expect(missing.problem?.contains("name not found") == true)
                let text = try await resolve(["both.test", "--type", "TXT"], hosts, scratch)
                #expect(text.records.map(\.content) == ["\"word\""])
                let reverse = try await resolve([TwoHosts.far4], hosts, scratch)
                #expect(reverse.records.map(\.content) == ["both.test."])
            }
        }

        @Test("A response that exceeds a datagram is received over TCP")
        func large() async throws {
            try await NamedHosts.run { hosts, scratch in
                let answer = try await resolve(["-4", "many.test"], hosts, scratch)
                #expect(answer.addresses.count == 200)
                #expect(answer.addresses.first?.origin == "tcp")
            }
        }

        // This test checks RFC 8305 §7.1.
        @Test(
            "An IPv6-only network with a NAT64 translator: IPv4 hosts are reached by address and by name",
            arguments: [TwoHosts.far4, "four.test"], [false, true])
        func translated(_ host: String, isDatagram: Bool) async throws {
            try await NamedHosts.run(resolv: "nameserver \(TwoHosts.far6)\n") { hosts, scratch in
                try hosts.ip("address delete \(TwoHosts.near4)/24 dev \(TwoHosts.link)")
                try hosts.ip("-6 route add default via \(NamedHosts.far6)")
                let nw = try scratch.start(
                    try Built.nw(),
                    ["cat", "-N", "-v", "-w", "10"] + (isDatagram ? ["-u", "-d"] : []) + [host, "7000"],
                    on: hosts.near)
                _ = try await nw.finished()
                #expect(nw.errors.hasPrefix("nw: cat: connected to [\(NamedHosts.translated4)]:7000\n"), "\(nw.errors)")
                guard !isDatagram else { return }
                let report = try await connect([host, "7000"], hosts, scratch)
                #expect(report.winner == "[\(NamedHosts.translated4)]:7000", "\(report)")
                let missing = try await connect(["127.0.0.9", "7000"], hosts, scratch)
                #expect(missing.problem?.contains("Connection refused") == true)
            }
        }

        @Test("Without a translator, the missing route is reported")
        func untranslated() async throws {
            try await NamedHosts.run(resolv: "nameserver 127.9.9.9\n") { hosts, scratch in
                try hosts.ip("address delete \(TwoHosts.near4)/24 dev \(TwoHosts.link)")
                try hosts.ip("-6 route add default via \(NamedHosts.far6)")
                let report = try await connect([TwoHosts.far4, "7000"], hosts, scratch)
                #expect(report.problem?.contains("Network is unreachable") == true, "\(report)")
            }
        }

        @Test("One of twelve addresses works, and it is found")
        func many() async throws {
            try await NamedHosts.run { hosts, scratch in
                // One address belongs to the far host. All others are addresses of this host, on which nothing listens.
                let report = try await connect(["-4", "some.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.far4):7000")
                #expect(report.attempts.filter { $0.outcome == "connected" }.count == 1)
            }
        }
    }
}

/// Two hosts, with a DNS server and an echo server on the far host. The near host's resolver uses that server.
enum NamedHosts {
    static let isPossible = TwoHosts.isAvailable && Unbound.path != nil

    /// Use global IPv6 addresses. Unique local addresses are not suitable, because they are tried after IPv4 addresses
    /// (RFC 6724 §2.1). They are tried first only if the AAAA response happens to arrive first.
    static let near6 = "2001:db8:77:8::1"
    static let far6 = "2001:db8:77:8::2"
    private static let refusing6 = "2001:db8:77:8::3"
    /// The far host's IPv4 address as mapped by a translator with the prefix 2001:db8:64::/96.
    static let translated4 = "2001:db8:64::a4d:802"

    private static func records() -> [String] {
        var records = [
            "both.test. A \(TwoHosts.far4)", "both.test. AAAA \(far6)", "both.test. TXT word",
            "hole.test. A \(TwoHosts.far4)", "hole.test. AAAA 2001:db8:77:8::99",
            "v4only.test. A \(TwoHosts.other4)", "v4only.test. AAAA \(refusing6)",
            "alias.test. CNAME target.test.", "target.test. A \(TwoHosts.far4)",
            "some.test. A \(TwoHosts.far4)", "four.test. A \(TwoHosts.far4)",
            "ipv4only.arpa. A 192.0.0.170", "ipv4only.arpa. AAAA 2001:db8:64::c000:aa",
        ]
        records += (1...200).map { "many.test. A 10.99.0.\($0)" }
        records += (10...20).map { "some.test. A 127.0.9.\($0)" }
        return records
    }

    static func run(
        isolation: isolated (any Actor)? = #isolation, resolv: String = "nameserver \(TwoHosts.far4)\n",
        _ body: (TwoHosts, Scratch) async throws -> Void
    ) async throws {
        try await TwoHosts.run { hosts, scratch in
            // For programs on that host, ip(8) mounts this file in place of /etc/resolv.conf.
            let folder = URL(filePath: "/etc/netns/\(hosts.near)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data(resolv.utf8).write(to: folder.appending(path: "resolv.conf"))
            try Data("hosts: files dns\n".utf8).write(to: folder.appending(path: "nsswitch.conf"))
            try hosts.ip("address add \(near6)/64 dev \(TwoHosts.link) nodad")
            for address in [far6, refusing6] {
                try hosts.farIP("address add \(address)/64 dev \(TwoHosts.link) nodad")
            }
            try hosts.farIP("address add \(translated4)/128 dev \(TwoHosts.link) nodad")
            try await startNameServer(hosts, scratch)
            for address in [TwoHosts.far4, far6, TwoHosts.other4, translated4] {
                let echo = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--host", address, "--port", "7000"], on: hosts.far)
                _ = try await echo.announcedPort()
            }
            try await body(hosts, scratch)
        }
    }

    private static func startNameServer(_ hosts: TwoHosts, _ scratch: Scratch) async throws {
        let data = records().map { "    local-data: \"\($0)\"" }
        let settings = """
                local-zone: "test." static
                local-data-ptr: "\(TwoHosts.far4) both.test"
            \(data.joined(separator: "\n"))
            """
        try await Unbound.start(
            on: hosts.far, listeningAt: [TwoHosts.far4, TwoHosts.far6], settings: settings, in: scratch)
    }
}
