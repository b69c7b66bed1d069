import Foundation
import Testing

extension Interop {
    /// Tests `nw nat64`. The command runs in a network namespace of the test, which acts as the host. The command
    /// creates the network for it.
    @Suite(
        "nw nat64",
        .enabled(if: TranslatedNetwork.isPossible || Interop.mustRun, "no namespaces, ip(8), unbound or tayga"))
    struct NAT64CommandTests {
        private static func run(
            _ words: [String], in hosts: TwoHosts, _ scratch: Scratch
        ) throws -> Child {
            try scratch.start(try Built.nw(), ["nat64"] + words, on: hosts.near)
        }

        @Test("A program that uses names reaches an IPv4 server, and one that uses IPv4 does not")
        func programs() async throws {
            try await TwoHosts.run { hosts, scratch in
                let server = try scratch.start(
                    try Built.nw(), ["serve", "echo", "--port", "0", "--host", "0.0.0.0"], on: hosts.near)
                let port = "\(try await server.announcedPort())"
                for host in ["host.test", "api.test"] {
                    let nw = try Self.run(
                        ["--address", "api.test=198.18.64.1", try Built.nw(), "echo", host, port, "-c2", "-i0"],
                        in: hosts,
                        scratch)
                    #expect(try await nw.finished() == 0, "\(nw.errors)")
                    #expect(nw.text.contains("2 round trips, 0 lost"), "\(nw.text)")
                }
                let plain = try Self.run(
                    [
                        "sh", "-c", "ip -4 address | grep -c inet; exec \"$0\" -4 -z -w 2 198.18.64.1 \"$1\"", "nc",
                        port,
                    ],
                    in: hosts, scratch)
                #expect(try await plain.finished() != 0)
                #expect(plain.text.hasPrefix("0\n"), "\(plain.text)")
                let code = try Self.run(["sh", "-c", "exit 7"], in: hosts, scratch)
                #expect(try await code.finished() == 7, "\(code.errors)")
            }
        }

        @Test("Everything is removed at the end, also after an interrupt, and a name is used once")
        func removal() async throws {
            try await TwoHosts.run { hosts, scratch in
                let name = "\(hosts.near)-v6"
                let nw = try Self.run(["--name", name, "--json"], in: hosts, scratch)
                try await eventually("the network is made: \(nw.errors)") { nw.text.contains(name) }
                #expect(FileManager.default.fileExists(atPath: "/run/netns/\(name)-router"))
                let second = try Self.run(["--name", name], in: hosts, scratch)
                #expect(try await second.finished() == 1)
                #expect(second.errors.contains("\(name) exists already"), "\(second.errors)")
                #expect(FileManager.default.fileExists(atPath: "/run/netns/\(name)"))
                try nw.interrupt()
                #expect(try await nw.finished() == 143)
                for place in ["/run/netns/\(name)", "/run/netns/\(name)-router", "/etc/netns/\(name)"] {
                    #expect(!FileManager.default.fileExists(atPath: place), "\(place)")
                }
                let links = try scratch.start("/usr/bin/env", ["ip", "-o", "link"], on: hosts.near)
                #expect(try await links.finished() == 0)
                #expect(!links.text.contains("n64-"), "\(links.text)")
            }
        }
    }
}
