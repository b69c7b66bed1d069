import Foundation
import Testing

extension Interop {
    /// `nw scan` compared with nmap.
    @Suite(
        "Scans",
        .enabled(
            if: TwoHosts.isAvailable && Peer.find("nmap") != nil && Peer.find("nft") != nil,
            "needs root, ip, nft and nmap"))
    struct ScanTests {
        /// A server in Python, for IPv4 and IPv6. It listens on the TCP ports 22 and 80, and on the TCP ports 2000,
        /// 3000 and so on, up to 64000. It also answers on the UDP ports 53 and 7000.
        private static let listener = """
            import select, socket
            poll = select.poll()
            sockets = {}
            places = [(socket.SOCK_STREAM, "::", port) for port in [22, 80] + list(range(2000, 65000, 1000))]
            # Answers have to come from the address that was asked.
            places += [(socket.SOCK_DGRAM, host, port) for port in (53, 7000)
                for host in ("\(TwoHosts.far4)", "\(TwoHosts.other4)", "\(TwoHosts.far6)", "\(TwoHosts.other6)")]
            for kind, host, port in places:
                s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind((host, port))
                if kind == socket.SOCK_STREAM: s.listen(128)
                s.setblocking(False)
                sockets[s.fileno()] = (s, kind)
                poll.register(s, select.POLLIN)
            print("ready", flush=True)
            while True:
                for number, _ in poll.poll():
                    s, kind = sockets[number]
                    try:
                        if kind == socket.SOCK_STREAM:
                            s.accept()[0].close()
                        else:
                            _, peer = s.recvfrom(2048)
                            s.sendto(b"here", peer)
                    except OSError:
                        pass
            """
        private static let rules = """
            add table inet t; add chain inet t c { type filter hook input priority 0; };
            add rule inet t c tcp dport 101 drop;
            add rule inet t c tcp dport 102 reject with icmpx port-unreachable;
            add rule inet t c tcp dport 103 reject with icmpx admin-prohibited;
            add rule inet t c tcp dport 104 reject with icmpx host-unreachable;
            add rule inet t c tcp dport 105 reject with icmpx no-route;
            add rule inet t c tcp dport 106 reject with tcp reset;
            add rule inet t c udp dport 201 drop;
            add rule inet t c udp dport 202 reject with icmpx admin-prohibited;
            add rule inet t c udp dport 203 reject with icmpx no-route;
            add rule inet t c tcp dport 30001-30100 drop;
            """

        private static func run(_ body: (TwoHosts, Scratch) async throws -> Void) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nft = try scratch.start(try #require(Peer.find("nft")), [rules], on: hosts.far)
                #expect(try await nft.finished() == 0, "\(nft.errors)")
                // Turn off ICMP rate limits. Otherwise, the host could send no errors for later probes.
                let sysctl = try scratch.start(
                    try #require(Peer.find("sysctl") ?? Peer.find("/usr/sbin/sysctl")),
                    ["-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0"], on: hosts.far)
                #expect(try await sysctl.finished() == 0, "\(sysctl.errors)")
                let python = try #require(Peer.find("python3"), "python3 is not installed")
                let server = try scratch.start(python, ["-c", listener], on: hosts.far)
                try await server.prints("ready\n")
                try await body(hosts, scratch)
            }
        }

        struct Row: CustomTestStringConvertible, Sendable {
            var technique: String
            var theirs: String
            var host: String
            var ports: String
            var testDescription: String { "\(technique) \(host) \(ports)" }

            /// Returns whether two scan results agree. During connect(2), the kernel discards an ICMP error unless the
            /// program has requested such errors. nmap does not request them, so it sometimes reports "no response" for
            /// a port. Such ports are not compared.
            func isAgreed(_ ours: [String], _ theirs: [String]) -> Bool {
                guard technique == "--connect", theirs.contains(where: { $0.hasSuffix("filtered no-response") }) else {
                    return ours == theirs
                }
                let forgotten = theirs.filter { $0.hasSuffix("filtered no-response") }.map { $0.prefix { $0 != " " } }
                let isKnown = { (line: String) in !forgotten.contains(line.prefix { $0 != " " }) }
                return ours.filter(isKnown) == theirs.filter(isKnown)
            }

            static let all = [("--syn", "-sS"), ("--connect", "-sT"), ("--udp", "-sU")].flatMap { ours, theirs in
                [TwoHosts.far4, TwoHosts.far6].flatMap { host in
                    (ours == "--udp"
                        ? ["53,7000-7002", "201", "202,203"] : ["22,80,23,81", "101", "102-106", "22-110"])
                        .map { Row(technique: ours, theirs: theirs, host: host, ports: $0) }
                }
            }
        }

        /// Returns the port, state and reason in each line of a scan table. Omits the details that nmap adds to a
        /// reason.
        private static func table(_ child: Child) -> [String] {
            String(decoding: child.output, as: UTF8.self).split(separator: "\n")
                .map { $0.split(separator: " ", omittingEmptySubsequences: true) }
                .filter { $0.count >= 4 && ($0[0].hasSuffix("/tcp") || $0[0].hasSuffix("/udp")) }
                .map { words in
                    // nmap uses different words for an unreachable address and an unreachable host (RFC 4443 §3.1).
                    // Convert one to the other.
                    let reason = words[3] == "addr-unreach" ? "host-unreach" : words[3]
                    return "\(words[0]) \(words[1]) \(reason)"
                }
        }

        /// Returns the number of ports that the scan does not show, for each port state.
        private static func hidden(_ child: Child) -> [String: Int] {
            var counts: [String: Int] = [:]
            for line in String(decoding: child.output, as: UTF8.self).split(separator: "\n")
            where line.hasPrefix("Not shown:") {
                for part in line.dropFirst(11).split(separator: ",") {
                    let words = part.split(separator: " ")
                    if words.count >= 2 { counts[String(words[1]), default: 0] += Int(words[0]) ?? 0 }
                }
            }
            return counts
        }

        @Test("A scan reports the same state and reason as nmap for each port", arguments: Row.all)
        func agreement(_ row: Row) async throws {
            try await Self.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["scan", row.technique, "-p", row.ports, row.host], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let nmap = try scratch.start(
                    try #require(Peer.find("nmap")),
                    ["-n", "-Pn", "--reason", row.theirs, "-p", row.ports]
                        + (row.host.contains(":") ? ["-6"] : []) + [row.host], on: hosts.near)
                #expect(try await nmap.finished() == 0, "\(nmap.errors)")
                #expect(!Self.table(nw).isEmpty)
                #expect(row.isAgreed(Self.table(nw), Self.table(nmap)), "\(Self.table(nw)) \(Self.table(nmap))")
                if row.technique != "--connect" { #expect(Self.hidden(nw) == Self.hidden(nmap)) }
            }
        }

        @Test("A scan of all ports misses no open port", arguments: ["--syn", "--connect"])
        func everyPort(_ technique: String) async throws {
            try await Self.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["scan", technique, "-p", "-", "--json", TwoHosts.far4], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let object = try #require(try JSONSerialization.jsonObject(with: nw.output) as? [String: Any])
                let ports = try #require(object["ports"] as? [[String: Any]])
                let open = ports.filter { $0["state"] as? String == "open" }.compactMap { $0["port"] as? Int }
                #expect(open == [22, 80] + Array(stride(from: 2000, to: 65_000, by: 1000)))
                let others = try #require(object["others"] as? [[String: Any]])
                let filtered = others.first { $0["state"] as? String == "filtered" }
                #expect(filtered?["count"] as? Int == 101, "\(others)")
            }
        }

        @Test("Several hosts, of which some are absent", arguments: ["--syn", "--udp"])
        func severalHosts(_ technique: String) async throws {
            try await Self.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(),
                    ["scan", technique, "-p", "53,80", "--open", "10.77.8.0/29", TwoHosts.far6], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let reports = String(decoding: nw.output, as: UTF8.self).split(separator: "\n")
                    .filter { $0.hasPrefix("Scan report for ") }.map { $0.dropFirst(16) }
                #expect(reports == ["10.77.8.2", "10.77.8.3", "fd77:8::2"])
            }
        }

        @Test("Host discovery finds the same hosts as nmap")
        func hostsThere() async throws {
            try await Self.run { hosts, scratch in
                let nw = try scratch.start(
                    try Built.nw(), ["scan", "--hosts", "--json", "10.77.8.0/28"], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let nmap = try scratch.start(
                    try #require(Peer.find("nmap")), ["-n", "-sn", "-oG", "-", "10.77.8.0/28"], on: hosts.near)
                #expect(try await nmap.finished() == 0, "\(nmap.errors)")
                let theirs = String(decoding: nmap.output, as: UTF8.self).split(separator: "\n")
                    .filter { $0.hasSuffix("Status: Up") }.map { String($0.split(separator: " ")[1]) }
                let ours = String(decoding: nw.output, as: UTF8.self).split(separator: "\n")
                    .filter { $0.contains("\"up\"") }.map { String($0.split(separator: "\"")[3]) }
                #expect(Set(ours) == Set(theirs) && ours.count == 3)
            }
        }

        @Test(
            "A rule of this host is not taken for an answer of the peer", arguments: ["--syn", "--connect", "--udp"],
            [TwoHosts.far4, TwoHosts.far6])
        func localRule(_ technique: String, _ host: String) async throws {
            try await Self.run { hosts, scratch in
                let nft = try scratch.start(
                    try #require(Peer.find("nft")),
                    [
                        """
                        add table inet l; add chain inet l c { type filter hook output priority 0; };
                        add rule inet l c th dport { 22, 53 } reject with icmpx admin-prohibited;
                        add rule inet l c th dport { 23, 54 } reject with icmpx port-unreachable
                        """
                    ], on: hosts.near)
                #expect(try await nft.finished() == 0, "\(nft.errors)")
                let ports = technique == "--udp" ? "53,54,55" : "22,23,24"
                let nw = try scratch.start(
                    try Built.nw(), ["scan", technique, "--no-discovery", "-p", ports, host], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let rows = Self.table(nw)
                #expect(rows.prefix(2).allSatisfy { $0.hasSuffix(" filtered local-rule") }, "\(rows)")
                #expect(rows.count == 3 && rows[2].contains(" closed "), "\(rows)")
            }
        }

        @Test(
            "Hosts on the link are found by ARP and neighbour discovery, even if they drop echo requests",
            arguments: [4, 6])
        func neighbours(_ version: Int) async throws {
            try await Self.run { hosts, scratch in
                let nft = try scratch.start(
                    try #require(Peer.find("nft")),
                    [
                        "add rule inet t c icmp type echo-request drop; add rule inet t c icmpv6 type echo-request drop"
                    ], on: hosts.far)
                #expect(try await nft.finished() == 0, "\(nft.errors)")
                let network = version == 4 ? "10.77.8.0/27" : "fd77:8::/124"
                let nw = try scratch.start(try Built.nw(), ["scan", "--hosts", "--json", network], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let nmap = try scratch.start(
                    try #require(Peer.find("nmap")),
                    ["-n", "-sn", "-oG", "-"] + (version == 6 ? ["-6"] : []) + [network], on: hosts.near)
                #expect(try await nmap.finished() == 0, "\(nmap.errors)")
                let theirs = String(decoding: nmap.output, as: UTF8.self).split(separator: "\n")
                    .filter { $0.hasSuffix("Status: Up") }.map { String($0.split(separator: " ")[1]) }
                let ours = String(decoding: nw.output, as: UTF8.self).split(separator: "\n")
                    .filter { $0.contains("\"up\"") }.map { String($0.split(separator: "\"")[3]) }
                #expect(Set(ours) == Set(theirs) && ours.count == 3, "ours \(ours), theirs \(theirs)")
                let reason = version == 4 ? "arp-response" : "nd-response"
                let asked = String(decoding: nw.output, as: UTF8.self).split(separator: "\n").filter {
                    $0.contains(reason)
                }
                // The third scanned host is this host itself.
                #expect(asked.count == 2, "\(String(decoding: nw.output, as: UTF8.self))")
            }
        }

        @Test(
            "With packet loss, every port that nmap finds is found",
            arguments: [("--syn", 10), ("--syn", 30), ("--connect", 10)])
        func losses(_ technique: String, _ percent: Int) async throws {
            try await Self.run { hosts, scratch in
                for host in [hosts.near, hosts.far] {
                    // Make the link drop some packets in each direction. If the kernel has netem, use it. Otherwise,
                    // use a packet filter.
                    let tc = try scratch.start(
                        "/usr/bin/env",
                        ["tc", "qdisc", "add", "dev", TwoHosts.link, "root", "netem", "loss", "\(percent)%"], on: host)
                    if try await tc.finished() == 0 { continue }
                    let rule = "ip protocol tcp numgen random mod 100 < \(percent) drop"
                    let nft = try scratch.start(
                        try #require(Peer.find("nft")),
                        [
                            "add table ip l; add chain ip l c { type filter hook prerouting priority -300; }; add rule ip l c \(rule)"
                        ],
                        on: host)
                    #expect(try await nft.finished() == 0, "\(nft.errors)")
                }
                let ports = "20-90,101,2000,3000,4000,2500"
                let nw = try scratch.start(
                    try Built.nw(), ["scan", technique, "--retries", "15", "-p", ports, TwoHosts.far4], on: hosts.near)
                let nmap = try scratch.start(
                    try #require(Peer.find("nmap")),
                    ["-n", "-Pn", "--reason", "--max-retries", "15", technique == "--syn" ? "-sS" : "-sT", "-p", ports]
                        + [TwoHosts.far4], on: hosts.near)
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(try await nmap.finished() == 0, "\(nmap.errors)")
                let open =
                    ["22/tcp open syn-ack", "80/tcp open syn-ack"]
                    + [2000, 3000, 4000].map { "\($0)/tcp open syn-ack" }
                #expect(Self.table(nw).filter { $0.contains(" open ") } == open)
                // nmap sometimes misses an open port if 30 per cent of the packets are lost in each direction. The
                // reason is that losses at other ports can make it give up a port early. `nw` must find at least the
                // ports that nmap finds.
                let theirs = Self.table(nmap).filter { $0.contains(" open ") }
                #expect(Set(theirs).isSubset(of: open) && !theirs.isEmpty, "\(theirs)")
                // If all probes for a port are lost, it looks like a filtered port. Both programs then report it as
                // filtered. This is rare.
                let filtered = Self.table(nw).filter { $0.contains("filtered") }
                #expect(filtered.contains("101/tcp filtered no-response") && filtered.count <= (percent > 10 ? 3 : 1))
            }
        }

        @Test("An interrupt ends a scan with the results so far")
        func interrupt() async throws {
            try await Self.run { hosts, scratch in
                let answers = try scratch.start(
                    try Built.nw(),
                    ["capture", "-i", TwoHosts.link, "--immediate", "tcp and src host \(TwoHosts.far4)"],
                    on: hosts.near)
                try await eventually("the capture begins") { answers.errors.contains("listening") }
                let nw = try scratch.start(
                    try Built.nw(), ["scan", "--rate", "20", "-p", "22,3000-4000", TwoHosts.far4], on: hosts.near)
                // The scan reads the answers to its probes before it sends the next ones.
                try await eventually("later ports answer too: \(answers.text)") {
                    let lines = answers.text.split(separator: "\n").drop { !$0.contains("\(TwoHosts.far4).22 > ") }
                    return lines.count > 3
                }
                try nw.interrupt()
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let text = String(decoding: nw.output, as: UTF8.self)
                #expect(text.contains("22/tcp") && text.contains("unknown tcp ports (not-asked)"), "\(text)")
                #expect(nw.errors.contains("interrupted"))
            }
        }

        @Test(
            "Without the capability, connections are used, and --syn names the missing capability",
            .enabled(if: Peer.find("setpriv") != nil))
        func unprivileged() async throws {
            try await Self.run { hosts, scratch in
                let start = { (more: [String]) in
                    try scratch.start(
                        try #require(Peer.find("setpriv")),
                        ["--bounding-set=-net_raw", try Built.nw(), "scan", "-p", "22,23"] + more + [TwoHosts.far4],
                        on: hosts.near)
                }
                let nw = try start([])
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                #expect(Self.table(nw) == ["22/tcp open syn-ack", "23/tcp closed conn-refused"])
                let refused = try start(["--syn"])
                #expect(try await refused.finished() == 1)
                #expect(refused.errors.contains("CAP_NET_RAW") && refused.errors.contains("--connect"))
            }
        }
    }
}
