import Foundation
import Testing

extension Interop {
    /// Compares the packet commands of `nw` with tcpdump and with the kernel.
    @Suite("Packets", .enabled(if: Peer.find("tcpdump") != nil))
    struct PacketTests {
        static func text(_ child: Child) -> String { String(decoding: child.output, as: UTF8.self) }

        @Test(
            "tcpdump and nw print the same for a generated packet",
            arguments: [
                ["udp", "10.0.0.1:101", "--source", "10.0.0.2", "--source-port", "4321", "--data", "Hello"],
                ["tcp", "10.0.0.1:80", "--source", "10.0.0.2", "--source-port", "4321", "--flags", "SEW"],
                ["icmp", "10.0.0.1", "--source", "10.0.0.2", "--sequence", "7", "--id", "9", "--data", "ping"],
                ["udp", "[2001:db8::1]:53000", "--source", "2001:db8::2", "--source-port", "4321", "--data", "Hello"],
                ["icmp", "2001:db8::1", "--source", "2001:db8::2", "--id", "9"],
                ["arp", "10.0.0.1", "--source", "10.0.0.2", "--source-mac", "02:00:00:00:00:01"],
                [
                    "udp", "10.0.0.1:101", "--source", "10.0.0.2", "--source-port", "4321", "--df", "--ip-options",
                    "94040000",
                ],
                ["icmp", "10.0.0.1", "--source", "10.0.0.2", "--id", "9", "--more-fragments"],
                ["icmp", "10.0.0.1", "--source", "10.0.0.2", "--id", "9", "--fragment-offset", "1480", "--data", "x"],
                [
                    "tcp", "10.0.0.1:80", "--source", "10.0.0.2", "--source-port", "4321", "--flags", "UA", "--urgent",
                    "0x10", "--data", "urgent data here",
                ],
            ])
        func madePackets(_ arguments: [String]) async throws {
            try await Scratch.run { scratch in
                let file = scratch.directory.appendingPathComponent("made.pcap").path
                let maker = try scratch.startNW(["packet"] + arguments + ["-w", file])
                #expect(try await maker.finished() == 0, "\(maker.errors)")
                // Leave out details for IPv6, because older versions of tcpdump print them differently.
                let detail = arguments[1].contains("2001") ? [] : ["-v"]
                let ours = try scratch.startNW(["read", "-tt"] + detail + [file])
                let theirs = try scratch.startProgram("tcpdump", ["-n", "-tt"] + detail + ["-r", file])
                #expect(try await ours.finished() == 0, "\(ours.errors)")
                #expect(try await theirs.finished() == 0, "\(theirs.errors)")
                #expect(Self.text(ours) == Self.text(theirs))
                #expect(!Self.text(ours).contains("bad") && !Self.text(ours).contains("incorrect"))
            }
        }

        static let fields: [([String], String)] = [
            (["udp", "10.0.0.1:9", "--checksum", "0xbeef"], "beef"),
            (["tcp", "10.0.0.1:9", "--checksum", "0"], "0000"),
            (["icmp", "2001:db8::1", "--checksum", "4660"], "1234"),
            (["udp", "10.0.0.1:9", "--ip-checksum", "0xcafe"], "cafe"),
            (["udp", "10.0.0.1:9", "--dont-fragment"], "4000"),
            (["udp", "10.0.0.1:9", "--mf", "--fragment-offset", "65528"], "3fff"),
            (["tcp", "10.0.0.1:9", "--urgent", "65535"], "ffff"),
            (["udp", "10.0.0.1:9", "--ip-options", "01 01:01"], "01010100"),
        ]
        /// For each row above, the position of the field's bytes in the hexadecimal output, in digits.
        static let offsets = [52, 72, 84, 20, 12, 12, 76, 40]

        @Test("Fields are written as given, right or wrong", arguments: zip(fields, offsets))
        func givenFields(_ row: ([String], String), _ offset: Int) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["packet", "--hex"] + row.0)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(Self.text(nw).dropFirst(offset).hasPrefix(row.1), "\(Self.text(nw))")
            }
        }

        @Test(
            "Addresses that are not complete, and options of IPv4 for IPv6, are refused",
            arguments: [
                ["udp", "10.0.0.1:9", "--source", "1.2.3"], ["udp", "10.1:9"], ["icmp", "167772161"],
                ["arp", "10.0.0.1", "--source", "10.0.0.02"], ["udp", "[::1]:9", "--df"],
                ["icmp", "::1", "--ip-options", "01"],
            ])
        func refused(_ words: [String]) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["packet"] + words)
                #expect(try await nw.finished() == 1)
                #expect(nw.errors.contains("address") || nw.errors.contains("requires an IPv4"), "\(nw.errors)")
                #expect(nw.output.isEmpty)
            }
        }

        @Test(
            "A capture to standard output or a file has its header before the first packet",
            .enabled(if: TwoHosts.isAvailable), arguments: ["-", "FILE.pcap", "FILE.pcapng"])
        func header(_ place: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let file = scratch.directory.appendingPathComponent(place)
                // No packet uses this port, so the capture writes only the file header.
                let capture = try scratch.start(
                    try Built.nw(),
                    ["capture", "-i", TwoHosts.link, "-w", place == "-" ? place : file.path, "udp", "port", "9"],
                    on: hosts.near)
                func count() -> Int {
                    place == "-" ? capture.output.count : (try? Data(contentsOf: file))?.count ?? 0
                }
                try await eventually("the header is written: \(capture.errors)") { count() >= 24 }
                let header = count()
                try capture.interrupt()
                _ = try await capture.finished()
                #expect(count() == header, "a second header")
            }
        }

        @Test(
            "A capture on a link loses no packet, and tcpdump can read it", .enabled(if: TwoHosts.isAvailable),
            arguments: ["pcap", "pcapng"])
        func capture(_ form: String) async throws {
            try await TwoHosts.run { hosts, scratch in
                let file = scratch.directory.appendingPathComponent("captured.\(form)").path
                let capture = try scratch.start(
                    try Built.nw(),
                    [
                        "capture", "-i", TwoHosts.link, "-c", "20", "-w", file,
                        "icmp or (icmp6[0] >= 128 and icmp6[0] < 130)",
                    ],
                    on: hosts.near)
                try await eventually("the capture begins") { capture.errors.contains("listening") }
                for address in [TwoHosts.far4, TwoHosts.far6] {
                    let ping = try scratch.start(
                        try Built.nw(), ["ping", "-c", "5", "-i", "0.05", address], on: hosts.near)
                    #expect(try await ping.finished() == 0, "\(ping.errors)")
                    #expect(
                        Self.text(ping).contains("5 packets transmitted, 5 received, 0% packet loss"),
                        "\(Self.text(ping))")
                }
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                #expect(
                    capture.errors.contains("20 packets captured") && capture.errors.contains(" 0 dropped"),
                    "\(capture.errors)")
                let ours = try scratch.startNW(["read", "-tt", file])
                let theirs = try scratch.startProgram("tcpdump", ["-n", "-tt", "-r", file])
                #expect(try await ours.finished() == 0)
                #expect(try await theirs.finished() == 0)
                #expect(Self.text(ours) == Self.text(theirs))
                #expect(Self.text(ours).split(separator: "\n").count == 20)
            }
        }

        @Test("The device of all interfaces, as JSON", .enabled(if: TwoHosts.isAvailable))
        func anyDevice() async throws {
            try await TwoHosts.run { hosts, scratch in
                let capture = try scratch.start(
                    try Built.nw(), ["capture", "--json", "-c", "4", "icmp"], on: hosts.near)
                // With --json, the capture does not say when it begins. So send until it has its packets.
                _ = try scratch.start(
                    try Built.nw(), ["ping", "-q", "-c", "100000", "-i", "0.1", TwoHosts.far4], on: hosts.near)
                #expect(try await capture.finished() == 0, "\(capture.errors)")
                let lines = Self.text(capture).split(separator: "\n")
                #expect(lines.count == 4)
                for line in lines {
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    #expect(object?["link"] as? String == "LINUX_SLL2" && object?["icmp"] != nil, "\(line)")
                }
            }
        }

        @Test("An absent host, and a path with too many hops", .enabled(if: TwoHosts.isAvailable))
        func unreachable() async throws {
            try await TwoHosts.run { hosts, scratch in
                let absent = try scratch.start(
                    try Built.nw(), ["ping", "-c", "1", "-W", "5", "10.77.8.99"], on: hosts.near)
                #expect(try await absent.finished() == 1)
                #expect(
                    Self.text(absent).contains("Unreachable") || Self.text(absent).contains("100% packet loss"),
                    "\(Self.text(absent))")
            }
        }

        @Test("The trace leads to the host, and over loopback it has one hop", arguments: ["127.0.0.1", "::1"])
        func trace(_ host: String) async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startNW(["trace", "--json", "-q", "2", host])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(Self.text(nw).hasPrefix("{\"hop\":1,"), "\(Self.text(nw))")
                #expect(Self.text(nw).contains("\"from\":\"\(host)\""))
            }
        }

        @Test("Nothing is sent beyond a host that answers at once")
        func traceOfNeighbour() async throws {
            try await Scratch.run { scratch in
                // Listen on the port to which the probe for the second hop would go. A datagram on this port would show
                // that this probe was sent.
                let listener = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
                defer { close(listener) }
                let port = try #require(Self.bindToLoopback(listener))
                let nw = try scratch.startNW(["trace", "-q", "1", "-m", "3", "-p", "\(port - 1)", "127.0.0.1"])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                var byte: UInt8 = 0
                #expect(recv(listener, &byte, 1, Int32(MSG_DONTWAIT)) == -1)
            }
        }

        /// Binds a socket to a free port of the loopback address. Returns the port.
        static func bindToLoopback(_ descriptor: Int32) -> UInt16? {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            return withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    guard bind(descriptor, $0, length) == 0, getsockname(descriptor, $0, &length) == 0 else {
                        return nil
                    }
                    return UInt16(bigEndian: pointer.pointee.sin_port)
                }
            }
        }

        @Test(
            "Without the capability, one line says what to do",
            .enabled(if: geteuid() == 0 && Peer.find("setpriv") != nil))
        func withoutCapability() async throws {
            try await Scratch.run { scratch in
                let nw = try scratch.startProgram(
                    "setpriv", ["--bounding-set=-net_raw", try Built.nw(), "capture", "-i", "lo"])
                #expect(try await nw.finished() == 1)
                #expect(nw.errors.contains("CAP_NET_RAW") && nw.errors.contains("setcap"), "\(nw.errors)")
                #expect(nw.errors.split(separator: "\n").count == 1)
            }
        }

        @Test("A filter is explained, or refused with the position of the error")
        func filters() async throws {
            try await Scratch.run { scratch in
                let good = try scratch.startNW(["filter", "tcp", "port", "80"])
                #expect(try await good.finished() == 0)
                #expect(Self.text(good).contains("jeq") && Self.text(good).contains("\tjf "))
                let bad = try scratch.startNW(["filter", "tcp port 70000"])
                #expect(try await bad.finished() == 1)
                #expect(bad.errors.contains("\n           ^"), "\(bad.errors)")
            }
        }
    }
}
