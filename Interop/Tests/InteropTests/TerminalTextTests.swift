import Foundation
import Testing

extension Interop {
    /// Tests what a host on the link can do to the terminal of a user who browses for services.
    @Suite(
        "Text of peers on a terminal",
        .enabled(if: TwoHosts.isAvailable && PythonMember.path != nil, "needs root, ip and python3"))
    struct TerminalTextTests {
        /// Announces two services until the script is ended, and prints a line each time. One has control sequences and
        /// line breaks in its name and TXT record. The other has a PTR record with two labels before the type.
        private static let script = """
            import socket, struct, sys, time
            def name(*labels): return b"".join(bytes([len(l)]) + l for l in labels) + b"\\0"
            def record(n, t, ttl, data, flush=False):
                return n + struct.pack(">HHIH", t, 1 | (0x8000 if flush else 0), ttl, len(data)) + data
            kind = (b"_esc", b"_tcp", b"local")
            label = b"red\\x1b[31m\\x1b]0;title\\x07\\n+ forged  _esc._tcp local. [eth0]\\xc2\\x9b2J"
            service, host = name(label, *kind), name(b"esc", b"local")
            text = b"".join(bytes([len(x)]) + x for x in (b"k=\\x1b[2J\\x1b[H\\nfake=1", b"flag", b"e="))
            location = struct.pack(">HHH", 0, 0, 80) + host
            twofold = name(b"two", b"labels", *kind)
            answers = [record(name(*kind), 12, 4500, service), record(name(*kind), 12, 4500, twofold),
                record(name(b"_services", b"_dns-sd", b"_udp", b"local"), 12, 4500, name(*kind)),
                record(service, 33, 120, location, True), record(service, 16, 4500, text, True),
                record(twofold, 33, 120, location, True), record(twofold, 16, 4500, text, True),
                record(host, 1, 120, socket.inet_aton("\(TwoHosts.far4)"), True)]
            message = struct.pack(">6H", 0, 0x8400, 0, len(answers), 0, 0) + b"".join(answers)
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            s.bind(("", 5353))
            s.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton("\(TwoHosts.far4)"))
            s.setsockopt(0, socket.IP_MULTICAST_TTL, 255)
            while True:
                s.sendto(message, ("224.0.0.251", 5353))
                print("announced", flush=True)
                time.sleep(0.2)
            """

        private static func drivesTerminal(_ output: Data) -> Bool {
            String(decoding: output, as: UTF8.self).unicodeScalars.contains { scalar in
                scalar != "\n" && scalar != "\t" && scalar.properties.generalCategory == .control
            }
        }

        @Test(
            "Names and TXT values of a peer neither control the terminal nor forge a line",
            arguments: [
                ["browse", "_esc._tcp", "-v", "-t", "2"], ["browse", "-t", "2"],
                ["browse", "_esc._tcp", "-v", "--json", "-t", "2"], ["query", "_esc._tcp.local", "PTR", "-t", "1.5"],
                ["query", "_esc._tcp.local", "PTR", "--json", "-t", "1.5"],
                ["resolve", "_esc._tcp.local", "PTR", "--trace"],
            ])
        func escaped(_ arguments: [String]) async throws {
            try await TwoHosts.run { hosts, scratch in
                let python = try #require(PythonMember.path)
                let peer = try scratch.start(python, ["-c", Self.script], on: hosts.far)
                try await eventually("the services are announced: \(peer.errors)") { !peer.text.isEmpty }
                let nw = try scratch.start(try Built.nw(), arguments, on: hosts.near)
                _ = try await nw.finished()
                #expect(nw.text.contains("red"), "\(nw.text)\(nw.errors)")
                #expect(!Self.drivesTerminal(nw.output), "\(nw.text)")
                #expect(!Self.drivesTerminal(Data(nw.errors.utf8)), "\(nw.errors)")
                #expect(!nw.text.contains("\n+ forged"), "\(nw.text)")
            }
        }

        @Test("A PTR whose target has two labels before the type is not reported as a service of the first label")
        func twofold() async throws {
            try await TwoHosts.run { hosts, scratch in
                let python = try #require(PythonMember.path)
                let peer = try scratch.start(python, ["-c", Self.script], on: hosts.far)
                try await eventually("the services are announced: \(peer.errors)") { !peer.text.isEmpty }
                let nw = try scratch.start(try Built.nw(), ["browse", "_esc._tcp", "-v", "-t", "2"], on: hosts.near)
                _ = try await nw.finished()
                #expect(nw.text.contains("+ red"), "\(nw.text)")
                #expect(!nw.text.contains("two"), "\(nw.text)")
            }
        }

        @Test("-v shows a key without a value, an empty value, and host, port and address")
        func details() async throws {
            try await TwoHosts.run { hosts, scratch in
                let python = try #require(PythonMember.path)
                let peer = try scratch.start(python, ["-c", Self.script], on: hosts.far)
                try await eventually("the services are announced: \(peer.errors)") { !peer.text.isEmpty }
                let nw = try scratch.start(
                    try Built.nw(), ["browse", "_esc._tcp", "-v", "--first", "-t", "5"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(
                    nw.text.contains("[\(TwoHosts.link)] e= flag k=\\u{1B}[2J\\u{1B}[H\\u{A}fake=1\n"), "\(nw.text)")
                #expect(nw.text.contains("local. esc.local. port 80 \(TwoHosts.far4)\n"), "\(nw.text)")
            }
        }
    }
}
