import Foundation
import Testing

extension Interop {
    /// Services of a unicast domain, with unbound as its server (RFC 6763).
    @Suite(
        "Services of unicast domains",
        .enabled(
            if: (TwoHosts.isAvailable && Unbound.path != nil) || Interop.mustRun, "no namespaces, ip(8) or unbound"))
    struct WideAreaTests {
        private static let domain = "wide.example"
        private static let records = """
            _services._dns-sd._udp PTR _nwwide._tcp
            _nwwide._tcp PTR My\\032page._nwwide._tcp
            _nwwide._tcp PTR two.labels._nwwide._tcp
            My\\032page._nwwide._tcp SRV 0 0 7000 host
            My\\032page._nwwide._tcp TXT "path=/x" "flag"
            host A \(TwoHosts.far4)

            """

        private func run(_ body: (TwoHosts, Scratch) async throws -> Void) async throws {
            try await TwoHosts.run { hosts, scratch in
                let folder = URL(filePath: "/etc/netns/\(hosts.near)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: folder) }
                try Data("nameserver \(TwoHosts.far4)\n".utf8).write(to: folder.appending(path: "resolv.conf"))
                let zone = try Unbound.zone(Self.domain, Self.records, in: scratch)
                try await Unbound.start(on: hosts.far, listeningAt: [TwoHosts.far4], settings: zone, in: scratch)
                let echo = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--host", TwoHosts.far4, "--port", "7000"], on: hosts.far)
                _ = try await echo.announcedPort()
                try await body(hosts, scratch)
            }
        }

        // RFC 6763 §10.
        @Test("A browser finds the services of a unicast domain, of one type and of all", arguments: [true, false])
        func browses(_ namesType: Bool) async throws {
            try await run { hosts, scratch in
                let words = namesType ? ["_nwwide._tcp"] : []
                let nw = try scratch.start(
                    try Built.nw(), ["browse", "--domain", Self.domain, "-v", "-t", "3"] + words, on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let service = "My page  _nwwide._tcp \(Self.domain)."
                #expect(nw.text.contains("+ \(service) flag path=/x\n"), "\(nw.text)\(nw.errors)")
                #expect(
                    nw.text.contains("= \(service) host.\(Self.domain). port 7000 \(TwoHosts.far4)\n"), "\(nw.text)")
                #expect(!nw.text.contains("two"), "\(nw.text)")
            }
        }

        @Test("A service endpoint of a unicast domain is resolved and connected to")
        func connects() async throws {
            try await run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["lookup", "My page._nwwide._tcp.\(Self.domain)", "--connect"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(nw.text == "\(TwoHosts.far4):7000\n")
            }
        }

        @Test("ServiceDiscovery and NetService resolve a service of a unicast domain")
        func library() async throws {
            try await run { hosts, scratch in
                let program = try Built.program("NetServiceProgram")
                let seeker = try scratch.start(program, ["--wide", "_nwwide._tcp", Self.domain], on: hosts.near)
                #expect(try await seeker.finished() == 0, "\(seeker.text)\(seeker.errors)")
                let lines = Set(seeker.text.split(separator: "\n").map(String.init))
                #expect(lines.contains("added My page _nwwide._tcp \(Self.domain)."), "\(seeker.text)")
                #expect(lines.contains("place host.\(Self.domain). 7000 \(TwoHosts.far4)"), "\(seeker.text)")
                #expect(lines.contains("not published -72004"), "\(seeker.text)")
                #expect(lines.contains("resolved host.\(Self.domain). 7000"), "\(seeker.text)")
            }
        }
    }
}
