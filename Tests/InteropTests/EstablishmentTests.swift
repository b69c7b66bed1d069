import Foundation
import Testing

extension Interop {
    /// Names and races between two hosts, with unbound as the DNS server of the far one.
    @Suite(
        "Establishment by name",
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

        @Test("Both families work: IPv6 wins, and nothing else is tried")
        func works() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["both.test", "7000"], hosts, scratch)
                #expect(report.winner == "[\(TwoHosts.far6)]:7000")
                #expect(report.attempts.count == 1)
            }
        }

        @Test("IPv6 is a black hole: IPv4 is connected while IPv6 is still being tried")
        func blackHole() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["hole.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.far4):7000")
                #expect(report.attempts.map(\.outcome) == ["abandoned", "connected"])
            }
        }

        @Test("IPv6 refuses: IPv4 is next at once")
        func refused() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["v4only.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.other4):7000")
                #expect(report.attempts.count == 2)
                #expect(report.attempts.first?.outcome.contains("Connection refused") == true)
            }
        }

        @Test("Everything refuses: the reason says so")
        func allRefused() async throws {
            try await NamedHosts.run { hosts, scratch in
                let report = try await connect(["both.test", "7001"], hosts, scratch)
                #expect(report.winner == nil)
                #expect(report.problem?.contains("Connection refused") == true)
                #expect(report.attempts.count == 2)
            }
        }

        @Test("One DNS server of two is dead, whichever way", arguments: ["10.77.8.99", "127.9.9.9"])
        func deadServer(_ dead: String) async throws {
            try await NamedHosts.run(resolv: "nameserver \(dead)\nnameserver \(TwoHosts.far4)\n") { hosts, scratch in
                let report = try await connect(["both.test", "7000"], hosts, scratch)
                #expect(report.winner != nil, "\(report)")
            }
        }

        @Test("A server over IPv6, aliases, search domains, and what does not exist")
        func names() async throws {
            try await NamedHosts.run(resolv: "nameserver \(TwoHosts.far6)\nsearch sub.test test\n") { hosts, scratch in
                let alias = try await resolve(["alias"], hosts, scratch)
                #expect(alias.addresses.map(\.address) == [TwoHosts.far4])
                let missing = try await resolve(["nothing.test"], hosts, scratch)
                #expect(missing.problem?.contains("NoSuchRecord") == true)
                let text = try await resolve(["both.test", "--type", "TXT"], hosts, scratch)
                #expect(text.records.map(\.content) == ["\"word\""])
                let reverse = try await resolve([TwoHosts.far4], hosts, scratch)
                #expect(reverse.records.map(\.content) == ["both.test."])
            }
        }

        @Test("An answer that fits no datagram comes over TCP")
        func large() async throws {
            try await NamedHosts.run { hosts, scratch in
                let answer = try await resolve(["-4", "many.test"], hosts, scratch)
                #expect(answer.addresses.count == 200)
                #expect(answer.addresses.first?.origin == "tcp")
            }
        }

        @Test("Twelve addresses of which one works: it is found")
        func many() async throws {
            try await NamedHosts.run { hosts, scratch in
                // All of them are this host's own, where nobody listens, but for the far one.
                let report = try await connect(["-4", "some.test", "7000"], hosts, scratch)
                #expect(report.winner == "\(TwoHosts.far4):7000")
                #expect(report.attempts.filter { $0.outcome == "connected" }.count == 1)
            }
        }
    }
}

/// Two hosts, a DNS server and an echo server on the far one; the near one's resolver asks that server.
enum NamedHosts {
    static let isPossible = TwoHosts.isAvailable && unbound != nil

    private static let unbound = ["/usr/sbin/unbound", "/usr/local/sbin/unbound"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private static func records() -> [String] {
        var records = [
            "both.test. A \(TwoHosts.far4)", "both.test. AAAA \(TwoHosts.far6)", "both.test. TXT word",
            "hole.test. A \(TwoHosts.far4)", "hole.test. AAAA fd77:8::99",
            "v4only.test. A \(TwoHosts.other4)", "v4only.test. AAAA \(TwoHosts.other6)",
            "alias.test. CNAME target.test.", "target.test. A \(TwoHosts.far4)",
            "some.test. A \(TwoHosts.far4)",
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
            // What ip(8) puts in the place of /etc/resolv.conf for programs on that host.
            let folder = URL(filePath: "/etc/netns/\(hosts.near)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data(resolv.utf8).write(to: folder.appending(path: "resolv.conf"))
            try Data("hosts: files dns\n".utf8).write(to: folder.appending(path: "nsswitch.conf"))
            try await startNameServer(hosts, scratch)
            for address in [TwoHosts.far4, TwoHosts.far6, TwoHosts.other4] {
                let echo = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--host", address, "--port", "7000"], on: hosts.far)
                _ = try await echo.announcedPort()
            }
            try await body(hosts, scratch)
        }
    }

    private static func startNameServer(_ hosts: TwoHosts, _ scratch: Scratch) async throws {
        let configuration = try scratch.newFile("conf")
        let data = records().map { "    local-data: \"\($0)\"" }
        let text = """
            server:
                interface: \(TwoHosts.far4)
                interface: \(TwoHosts.far6)
                access-control: 0.0.0.0/0 allow
                access-control: ::0/0 allow
                do-daemonize: no
                use-syslog: no
                logfile: ""
                verbosity: 1
                chroot: ""
                username: ""
                directory: "\(scratch.directory.path)"
                pidfile: ""
                module-config: "iterator"
                local-zone: "test." static
                local-data-ptr: "\(TwoHosts.far4) both.test"
            \(data.joined(separator: "\n"))
            remote-control:
                control-enable: no
            """
        try Data(text.utf8).write(to: configuration)
        let server = try scratch.start(
            try #require(unbound, "unbound is not installed"), ["-d", "-c", configuration.path], on: hosts.far)
        try await eventually("unbound listens: \(server.errors)") { server.errors.contains("start of service") }
    }
}
