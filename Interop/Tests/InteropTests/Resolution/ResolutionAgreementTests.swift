import Foundation
import Testing

extension Interop {
    /// Compares the results of `nw resolve` for generated names with those of `getent ahosts` (glibc) and `dig`. All
    /// use the same server and configuration.
    @Suite(
        "Agreement of name resolution",
        .enabled(if: MadeZone.isPossible || Interop.mustRun, "no namespaces, unbound, dig or getent"))
    struct ResolutionAgreementTests {
        /// Names for which glibc's result differs from the result of this library, with the reason. The test also fails
        /// if both have the same result for a listed name.
        private static let knownDifferences = [
            "123": "glibc reads a number as an IPv4 address, even if the name servers have that name (inet_aton)"
        ]

        private static let hosts = (1...30).map { "h\($0)" }
        private static let chains = (1...8).map { "chain\($0)" }

        /// The names that both programs resolve before they connect. The names test search domains, the hosts file,
        /// both address families, and the order of addresses (RFC 6724).
        static let names =
            hosts + hosts.prefix(10).map { "\($0).made.example" } + hosts.prefix(5).map { "\($0).made.example." }
            + hosts.prefix(5).map { $0.uppercased() } + chains + chains.map { "\($0).Made.Example" }
            + [
                "loop1", "dangling", "away", "many", "short", "short.other.example", "MIXED", "mixed.made.example",
                "host_name", MadeZone.longLabel, "x" + MadeZone.longLabel, MadeZone.longName, "any.wild", "exact.wild",
                "a.b.c.wild", "x.sub.wild2", "wild2", "nodata", "nothing", "nothing.made.example", "only4", "only6",
                "cname-to-only6", "deep.a.b.c", "deep.a.b.c.d.e", "bücher", "BÜCHER", "bücher.made.example", "straße",
                "strasse", "中国", "xn--bcher-kva", "1digit", "123", "localhost", "a.localhost", "LOCALHOST.", "filed",
                "filed.made.example", "FILED", "h1.", "nothing.", "bad-", "a..b", "256.1.1.1", "1.2.3.4.5", "ptrs",
            ]

        struct Question: Hashable, Sendable {
            var name: String
            var type: String
        }

        /// DNS questions about fully qualified names. Together they request records of many types.
        static let questions: [Question] =
            [("A", Array(hosts.prefix(6))), ("AAAA", Array(hosts.prefix(6))), ("A", chains), ("CNAME", chains)]
            .flatMap { type, names in names.map { Question(name: "\($0).made.example", type: type) } }
            + [
                ("txt", "TXT"), ("empty", "TXT"), ("quoted", "TXT"), ("binary", "TXT"), ("long", "TXT"),
                ("texts", "TXT"), ("_dmarc", "TXT"), ("any.wild", "TXT"), ("mail", "MX"), ("nomail", "MX"),
                ("chain2", "MX"), ("_sip._tcp", "SRV"), ("_none._tcp", "SRV"), ("web", "HTTPS"), ("webalias", "HTTPS"),
                ("odd", "TYPE65280"), ("loop1", "A"), ("dangling", "A"), ("away", "AAAA"), ("many", "A"),
                ("many", "AAAA"), ("nodata", "A"), ("nothing", "A"), ("nothing", "TXT"), ("MIXED", "A"),
            ].map { Question(name: "\($0.0).made.example", type: $0.1) }
            + [
                ("made.example", "NS"), ("made.example", "SOA"), ("1.0.50.10.in-addr.arpa", "PTR"),
                ("2.0.50.10.in-addr.arpa", "PTR"), ("9.0.50.10.in-addr.arpa", "PTR"), (MadeZone.reverse6, "PTR"),
            ].map { Question(name: $0.0, type: $0.1) }

        @Test("Equal addresses in equal order as getent ahosts, except for the listed names")
        func addresses() async throws {
            try await MadeZone.run { hosts, scratch in
                var table = Table(title: "getent ahosts")
                for part in Self.names.parts(of: 12) {
                    let script = """
                        nw=$1; shift
                        for name; do
                            printf '## %s\\n' "$name"
                            getent ahosts -- "$name" | awk '$2 == "STREAM" { print $1 }'
                            echo --
                            "$nw" resolve -- "$name" 2>/dev/null | awk '{ print $1 }'
                        done
                        """
                    try await table.add(run(script, [try Built.nw()] + part, hosts, scratch)) { $0 }
                }
                #expect(table.count == Self.names.count)
                print(table.text)
                #expect(Set(table.differences) == Set(Self.knownDifferences.keys), "\(table.text)")
            }
        }

        @Test("Equal records as dig, of every type, over UDP and TCP")
        func records() async throws {
            try await MadeZone.run { hosts, scratch in
                var table = Table(title: "dig")
                for part in Self.questions.parts(of: 12) {
                    let script = """
                        nw=$1; shift
                        while [ $# -gt 0 ]; do
                            printf '## %s %s\\n' "$1" "$2"
                            dig +time=3 +tries=1 +noall +answer -q "$1" -t "$2" | grep -v '^;'
                            echo --
                            "$nw" resolve --type "$2" -- "$1" 2>/dev/null
                            shift 2
                        done
                        """
                    let words = part.flatMap { [$0.name, $0.type] }
                    try await table.add(run(script, [try Built.nw()] + words, hosts, scratch), reading: Self.record)
                }
                #expect(table.count == Self.questions.count)
                print(table.text)
                #expect(table.differences.isEmpty, "\(table.text)")
            }
        }

        /// Returns the type and the exact content of the record in a line.
        private static func record(_ line: String) -> String? {
            let words = line.split(maxSplits: 4, whereSeparator: { $0 == "\t" || $0 == " " }).map(String.init)
            guard words.count == 5, words[2] == "IN" else { return nil }
            switch words[3] {
            case "TXT": return "TXT \(words[4])"
            // Remove quotation marks around a parameter's value, because they have no meaning (RFC 9460 §2.1).
            case "HTTPS": return "HTTPS \(words[4].filter { $0 != "\"" })"
            default: return "\(words[3]) \(words[4])"
            }
        }

        private func run(
            _ script: String, _ words: [String], _ hosts: TwoHosts, _ scratch: Scratch
        ) async throws -> String {
            let child = try scratch.start("/bin/sh", ["-c", script, "sh"] + words, on: hosts.near)
            _ = try await child.finished()
            return String(decoding: child.output, as: UTF8.self)
        }
    }
}

/// Collects the results of another program and of `nw` for each name, to compare them.
private struct Table {
    let title: String
    private var rows: [(name: String, theirs: [String], ours: [String])] = []

    init(title: String) { self.title = title }

    var count: Int { rows.count }
    var differences: [String] { rows.filter { $0.theirs != $0.ours }.map(\.name) }

    /// Adds the output of another program. The output consists of blocks. Each block contains a name, the program's
    /// lines for this name, and the lines of `nw`. The comparison ignores the order of records, but not the order of
    /// addresses.
    mutating func add(_ output: String, reading read: @escaping (String) -> String?) {
        for block in output.components(separatedBy: "## ").dropFirst() {
            let lines = block.components(separatedBy: "\n")
            let middle = lines.firstIndex(of: "--") ?? lines.endIndex
            var theirs = lines[..<middle].dropFirst().compactMap(Self.reading(read))
            var ours = lines[middle...].dropFirst().compactMap(Self.reading(read))
            if lines[0].contains(" ") {
                // Compare only records of the requested type, because the programs print alias chains in different
                // ways.
                let type = lines[0].split(separator: " ").last ?? ""
                theirs = theirs.filter { $0.hasPrefix("\(type) ") }.sorted()
                ours = ours.filter { $0.hasPrefix("\(type) ") }.sorted()
            }
            rows.append((lines[0], theirs, ours))
        }
    }

    private static func reading(_ read: @escaping (String) -> String?) -> (String) -> String? {
        { line in line.isEmpty ? nil : read(line) }
    }

    var text: String {
        let different = rows.filter { $0.theirs != $0.ours }
        let empty = rows.count { $0.theirs.isEmpty }
        let lines = different.map { "  \($0.name): \(title) \($0.theirs.prefix(4)), nw \($0.ours.prefix(4))" }
        return
            ([
                "\(rows.count) names compared with \(title), \(empty) of them without an answer, \(different.count) differ"
            ]
            + lines)
            .joined(separator: "\n")
    }
}

extension Array {
    fileprivate func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}

/// A DNS zone with generated names. Unbound serves the zone on the far host.
enum MadeZone {
    static let isPossible =
        TwoHosts.isAvailable && Unbound.path != nil && Peer.find("dig") != nil && Peer.find("getent") != nil
    static let longLabel = String(repeating: "l", count: 63)
    static let longName =
        ["p", "q", "r"].map { String(repeating: $0, count: 63) }.joined(separator: ".") + ".made.example"
    static let reverse6 = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.\(reverseZone6)"
    private static let reverseZone6 = "0.5.0.0.8.b.d.0.1.0.0.2.ip6.arpa"

    static func run(_ body: (TwoHosts, Scratch) async throws -> Void) async throws {
        try await TwoHosts.run { hosts, scratch in
            let folder = URL(filePath: "/etc/netns/\(hosts.near)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = [
                "resolv.conf": "nameserver \(TwoHosts.far4)\nsearch made.example other.example\n",
                "nsswitch.conf": "hosts: files dns\n",
                "hosts":
                    "127.0.0.1 localhost\n::1 localhost\n10.59.0.1 filed filed.made.example\n2001:db8:59::1 filed\n",
            ]
            for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
            try hosts.ip("address add 2001:db8:77:8::1/64 dev \(TwoHosts.link) nodad")
            try hosts.ip("route add default via \(TwoHosts.far4)")
            try hosts.ip("-6 route add default via 2001:db8:77:8::2")
            try await startNameServer(hosts, scratch)
            try await body(hosts, scratch)
        }
    }

    private static func startNameServer(_ hosts: TwoHosts, _ scratch: Scratch) async throws {
        var zones = ""
        var local = ""
        for (name, text) in contents {
            zones += try Unbound.zone(name, text, in: scratch)
            local += "    local-zone: \"\(name).\" transparent\n"
        }
        // No other names exist, because the DNS server (unbound) queries no other server.
        let settings = """
                rrset-roundrobin: no
                local-zone: "." static
                local-zone: "10.in-addr.arpa." nodefault
                local-zone: "8.b.d.0.1.0.0.2.ip6.arpa." nodefault
            \(local)
            \(zones)
            """
        try await Unbound.start(on: hosts.far, listeningAt: [TwoHosts.far4], settings: settings, in: scratch)
    }

    private static var contents: [(String, String)] {
        var made = [
            "ns A \(TwoHosts.far4)", "chain0 A 10.51.0.1", "chain0 AAAA 2001:db8:51::1", "loop1 CNAME loop2",
            "loop2 CNAME loop1", "dangling CNAME nothing", "away CNAME far.other.example.", "host_name A 10.52.0.1",
            "\(longLabel) A 10.52.0.2", "\(longName). A 10.52.0.3", "_dmarc TXT \"v=DMARC1; p=none\"",
            "_sip._tcp SRV 10 5 5060 h1", "_sip._tcp SRV 20 0 5061 h2", "_none._tcp SRV 0 0 0 .",
            "txt TXT \"one\" \"two words\"", "empty TXT \"\"", #"quoted TXT "a\"b\\c;d""#, #"binary TXT "\000\255x""#,
            "long TXT " + ["x", "y", "z"].map { "\"\(String(repeating: $0, count: 255))\"" }.joined(separator: " "),
            "mail MX 10 h1", "mail MX 20 h2", "nomail MX 0 .", "webalias HTTPS 0 web", "web A 10.50.0.1",
            #"web HTTPS 1 . alpn="h2,h3" port=8443 ipv4hint=10.50.0.1,10.50.0.2 ipv6hint=2001:db8:50::1"#,
            "*.wild A 10.53.0.1", "*.wild TXT \"wild\"", "exact.wild A 10.53.0.2", "sub.wild2 A 10.53.0.3",
            "nodata TXT \"only\"", "only4 A 10.54.0.1", "only6 AAAA 2001:db8:54::1", "cname-to-only6 CNAME only6",
            "xn--bcher-kva A 10.56.0.1", "xn--strae-oqa A 10.56.0.2", "strasse A 10.56.0.3", "xn--fiqs8s A 10.56.0.4",
            "MiXeD A 10.57.0.1", "ptrs A 10.57.0.2", "1digit A 10.57.0.3", "123 A 10.57.0.4",
            "deep.a.b.c.d.e A 10.57.0.5", "odd TYPE65280 \\# 3 010203",
        ]
        made += (1...8).map { "chain\($0) CNAME chain\($0 - 1)" }
        for number in 1...30 {
            if number % 3 != 0 { made.append("h\(number) A 10.50.0.\(number)") }
            if number % 2 == 0 || number % 3 == 0 {
                made.append("h\(number) AAAA 2001:db8:50::\(String(number, radix: 16))")
            }
        }
        // Records that exceed a datagram.
        made += (1...100).map { "texts TXT \"number \($0) of a hundred that fit no datagram of a common size\"" }
        made += (1...200).map { "many A 10.55.\($0 / 100).\($0 % 100 + 1)" }
        made += (1...100).map { "many AAAA 2001:db8:55::\(String($0, radix: 16))" }
        return [
            ("made.example", made.joined(separator: "\n") + "\n"),
            ("other.example", "far A 10.58.0.1\nfar AAAA 2001:db8:58::1\nshort A 10.58.0.2\n"),
            ("50.10.in-addr.arpa", "1.0 PTR h1.made.example.\n2.0 PTR h2.made.example.\n2.0 PTR other.made.example.\n"),
            (reverseZone6, "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR h1.made.example.\n"),
        ]
    }
}
