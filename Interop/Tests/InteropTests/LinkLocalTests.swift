import Foundation
import Testing

extension Interop {
    /// `nw linklocal` on a link of two hosts, with generated frames and with Avahi's implementation.
    @Suite("Link-local addresses", .enabled(if: TwoHosts.isAvailable, "needs root, ip and python3"))
    struct LinkLocalTests {
        private static let requested = "169.254.77.7"

        @Test("C99 C101: an address is probed and assigned, given up after a repeated conflict, and removed at the end")
        func life() async throws {
            try await TwoHosts.run { hosts, scratch in
                try hosts.ip("-4 address flush dev \(TwoHosts.link)")
                let file = scratch.directory.appendingPathComponent("remembered").path
                let nw = try scratch.start(
                    try Built.nw(), ["linklocal", TwoHosts.link, "--try", Self.requested, "--remember", file],
                    on: hosts.near)
                try await eventually("it probes: \(nw.text) \(nw.errors)") {
                    nw.text.hasPrefix("probing for \(Self.requested)\n")
                }
                try await eventually("it has the address: \(nw.text)") {
                    nw.text.contains("\(TwoHosts.link) has \(Self.requested)\n")
                }
                let address = "inet \(Self.requested)/16 brd 169.254.255.255 scope link"
                #expect(try await Self.addresses(of: hosts.near, scratch).contains(address))
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(Self.requested)\n")
                // Another host claims the address twice within ten seconds. After the first conflict, nw defends the
                // address. After the second conflict, nw gives the address up.
                _ = try scratch.start("/usr/bin/python3", ["-c", Self.insisting, Self.requested], on: hosts.far)
                try await eventually("nw gives the address up: \(nw.text)") {
                    nw.text.contains("\(Self.requested) lost: 02:00:00:00:00:77 uses it too\nprobing for 169.254.")
                }
                try await eventually("nw has another address: \(nw.text)") {
                    nw.text.split(separator: "\n").count { $0.hasPrefix("\(TwoHosts.link) has 169.254.") } == 2
                }
                #expect(try await !Self.addresses(of: hosts.near, scratch).contains(address))
                try nw.interrupt()
                _ = try await nw.finished()
                #expect(try await !Self.addresses(of: hosts.near, scratch).contains("169.254."))
            }
        }

        @Test(
            "C99: nw does not take an address that Avahi has",
            .enabled(if: Peer.find("avahi-autoipd") != nil, "needs avahi-autoipd"))
        func avahi() async throws {
            try await TwoHosts.run { hosts, scratch in
                try hosts.ip("-4 address flush dev \(TwoHosts.link)")
                try hosts.farIP("-4 address flush dev \(TwoHosts.link)")
                let avahi = try scratch.start(
                    try #require(Peer.find("avahi-autoipd")),
                    ["--start=\(Self.requested)", "--no-chroot", "--no-drop-root", TwoHosts.link], on: hosts.far)
                try await eventually("Avahi has it: \(avahi.errors)") {
                    avahi.errors.contains("Successfully claimed IP address \(Self.requested)")
                }
                let nw = try scratch.start(
                    try Built.nw(), ["linklocal", TwoHosts.link, "--try", Self.requested], on: hosts.near)
                try await eventually("nw avoids it: \(nw.text)") {
                    nw.text.hasPrefix("probing for \(Self.requested)\n\(Self.requested) is already used by ")
                }
                try await eventually("nw has another address: \(nw.text)") {
                    nw.text.contains("\(TwoHosts.link) has 169.254.")
                }
                try nw.interrupt()
                _ = try await nw.finished()
                try avahi.interrupt()
                _ = try await avahi.finished()
            }
        }

        @Test("C102: an interface with an address needs none; one line names the missing capability")
        func nothing() async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try scratch.start(try Built.nw(), ["linklocal", TwoHosts.link], on: hosts.near)
                try await nw.prints("idle: \(TwoHosts.link) has a routable address\n")
                let powerless = try scratch.start(
                    "/usr/bin/setpriv",
                    ["--inh-caps=-all", "--bounding-set=-all", try Built.nw(), "linklocal", TwoHosts.link],
                    on: hosts.near)
                #expect(try await powerless.finished() == 1)
                #expect(powerless.errors.contains("setcap cap_net_raw,cap_net_admin=ep"), "\(powerless.errors)")
                let nowhere = try scratch.start(try Built.nw(), ["linklocal", "nwnone"], on: hosts.near)
                #expect(try await nowhere.finished() == 1)
                #expect(
                    nowhere.errors
                        == "nw: linklocal: no interface is named nwnone; nw interfaces lists the interfaces\n")
            }
        }

        private static func addresses(of host: String, _ scratch: Scratch) async throws -> String {
            let ip = try scratch.start(
                try #require(Peer.find("ip")), ["-4", "address", "show", "dev", TwoHosts.link], on: host)
            _ = try await ip.finished()
            return ip.text
        }

        /// A script that claims an IPv4 address twice with ARP frames.
        private static let insisting = """
            import socket, sys, time
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            s.bind(("\(TwoHosts.link)", 0))
            own, address = bytes.fromhex("020000000077"), socket.inet_aton(sys.argv[1])
            frame = b"\\xff" * 6 + own + bytes.fromhex("08060001080006040002") + own + address + b"\\xff" * 6 + address
            for _ in range(2):
                s.send(frame)
                time.sleep(1)
            """
    }
}
