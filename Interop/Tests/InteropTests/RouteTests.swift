import Foundation
import Testing

extension Interop {
    /// Compares `nw trace` and `nw ping` with traceroute and ping over three routers.
    @Suite(
        "Paths over routers",
        .enabled(
            if: TwoHosts.isAvailable && Peer.find("traceroute") != nil && Peer.find("ping") != nil
                && Peer.find("nft") != nil, "needs root, ip, nft, traceroute and ping"))
    struct RouteTests {
        /// A fault in the test network.
        enum Trouble: String, CaseIterable, Sendable {
            case nothing, silentRouter, deadEnd, noRoute, prohibited, shortLink, hostGone

            func apply(_ chain: RouterChain) throws {
                switch self {
                case .nothing: break
                case .silentRouter:
                    try chain.filter(RouterChain.chain("output", "icmp type time-exceeded drop"), on: 2)
                    try chain.filter("add rule inet t c icmpv6 type time-exceeded drop", on: 2)
                case .deadEnd: try chain.filter(RouterChain.chain("forward", "drop"), on: 3)
                case .noRoute:
                    try chain.filter(RouterChain.chain("forward", "reject with icmpx host-unreachable"), on: 2)
                case .prohibited:
                    try chain.filter(RouterChain.chain("forward", "reject with icmpx admin-prohibited"), on: 2)
                case .shortLink:
                    try chain.run("ip link set l2 mtu 1400", on: 2)
                    try chain.run("ip link set l2 mtu 1400", on: 3)
                case .hostGone: try chain.filter(RouterChain.chain("input", "drop"), on: RouterChain.last)
                }
            }
        }

        struct Row: CustomTestStringConvertible, Sendable {
            var trouble: Trouble
            var isIPv6: Bool
            var testDescription: String { "\(trouble.rawValue), IPv\(isIPv6 ? 6 : 4)" }
            var host: String { isIPv6 ? RouterChain.far6 : RouterChain.far4 }
            static let all = Trouble.allCases.flatMap {
                [Row(trouble: $0, isIPv6: false), Row(trouble: $0, isIPv6: true)]
            }
        }

        /// Returns one text for each hop. It contains the addresses that answered, and traceroute's marks for errors,
        /// such as `!H`.
        static func hops(_ child: Child) -> [String] {
            var hops: [String] = []
            for line in String(decoding: child.output, as: UTF8.self).split(separator: "\n").dropFirst() {
                let words = line.split(separator: " ").dropFirst()
                let known = words.filter {
                    $0.contains(":") || $0.split(separator: ".").count == 4 || $0.hasPrefix("!")
                }
                hops.append(known.isEmpty ? "*" : known.joined(separator: " "))
            }
            while hops.last == "*" { hops.removeLast() }
            return hops
        }

        @Test("A trace shows the same hops as traceroute", arguments: Row.all)
        func trace(_ row: Row) async throws {
            try await RouterChain.run { chain, scratch in
                try row.trouble.apply(chain)
                for (method, theirs) in [([], []), (["--icmp"], ["-I"]), (["--tcp"], ["-T", "-p", "80"])] {
                    // TCP segments fit every link, so only the other methods send long packets.
                    let isLong = row.trouble == .shortLink && method != ["--tcp"]
                    let nw = try scratch.start(
                        try Built.nw(),
                        ["trace", "-q", "1", "-m", "6", "-w", "0.7"] + method
                            + (isLong ? ["--df", "--size", "1500"] : []) + [row.host], on: chain.node(0))
                    _ = try await nw.finished()
                    let traceroute = try scratch.start(
                        try #require(Peer.find("traceroute")),
                        ["-n", "-q", "1", "-m", "6", "-w", "0.7"] + theirs + (isLong ? ["-F"] : []) + [row.host]
                            + (isLong ? ["1500"] : []), on: chain.node(0))
                    #expect(try await traceroute.finished() == 0, "\(traceroute.errors)")
                    #expect(!Self.hops(nw).isEmpty)
                    #expect(Self.hops(nw) == Self.hops(traceroute), "\(method) \(nw.errors)")
                }
            }
        }

        @Test("A router that rate-limits its ICMP errors does not count as loss", arguments: [false, true])
        func limited(_ isIPv6: Bool) async throws {
            try await RouterChain.run { chain, scratch in
                try chain.run("sysctl -qw net.ipv4.icmp_ratelimit=1000 net.ipv6.icmp.ratelimit=1000", on: 2)
                let nw = try scratch.start(
                    try Built.nw(),
                    ["trace", "--json", "-q", "10", isIPv6 ? RouterChain.far6 : RouterChain.far4], on: chain.node(0))
                #expect(try await nw.finished() == 0, "\(nw.errors)")
                let lines = String(decoding: nw.output, as: UTF8.self).split(separator: "\n")
                #expect(lines.count == 4)
                #expect(lines.contains { $0.hasPrefix("{\"hop\":2,\"limited\":true,\"answers\":[{") }, "\(lines)")
                for hop in [1, 3, 4] {
                    #expect(lines.contains { $0.hasPrefix("{\"hop\":\(hop),\"limited\":false") }, "\(lines)")
                }
            }
        }

        /// Returns the numbers from the printed statistics: sent packets, received packets, and errors.
        static func statistics(_ child: Child) -> [Int] {
            let text = String(decoding: child.output, as: UTF8.self)
            guard let line = text.split(separator: "\n").first(where: { $0.contains("packets transmitted") }) else {
                return []
            }
            let parts = line.split(separator: ",")
            func number(_ word: String) -> Int {
                let part = parts.first { $0.contains(word) }
                return part.flatMap { Int($0.filter { $0 >= "0" && $0 <= "9" }) } ?? 0
            }
            return [number("transmitted"), number("received"), number("errors")]
        }

        struct PingRow: CustomTestStringConvertible, Sendable {
            var name: String
            var trouble = Trouble.nothing
            /// The command-line options that both programs get.
            var options: [String] = []
            /// Texts about one request that the output must contain. The first text is for IPv4, and the second text is
            /// for IPv6.
            var words: (String, String)?
            var testDescription: String { name }

            static let all = [
                PingRow(name: "plain"), PingRow(name: "large, cut up", trouble: .shortLink, options: ["-s", "3000"]),
                PingRow(
                    name: "large, whole", trouble: .shortLink, options: ["-M", "do", "-s", "1450"],
                    words: ("mtu = 1400", "mtu")),
                PingRow(name: "few hops", options: ["-t", "2"], words: ("Time to live exceeded", "exceeded")),
                PingRow(name: "enough hops", options: ["-t", "4"]), PingRow(name: "no content", options: ["-s", "0"]),
                PingRow(name: "dead end", trouble: .deadEnd),
                PingRow(name: "host gone", trouble: .hostGone),
                PingRow(name: "no route", trouble: .noRoute, words: ("Destination Host Unreachable", "nreachable")),
                PingRow(name: "prohibited", trouble: .prohibited, words: ("Packet filtered", "rohibited")),
            ]
        }

        @Test("nw ping has the same counts as ping", arguments: PingRow.all, [false, true])
        func ping(_ row: PingRow, _ isIPv6: Bool) async throws {
            try await RouterChain.run { chain, scratch in
                try row.trouble.apply(chain)
                let arguments =
                    ["-c", "3", "-i", "0.2", "-W", "1"] + row.options
                    + [isIPv6 ? RouterChain.far6 : RouterChain.far4]
                let nw = try scratch.start(try Built.nw(), ["ping"] + arguments, on: chain.node(0))
                let code = try await nw.finished()
                // The kernel caches information about paths. Delete it, so that the second program starts with the same
                // state as the first.
                for number in 0...RouterChain.last {
                    try chain.run("ip route flush cache; ip -6 route flush cache", on: number)
                }
                let ping = try scratch.start(
                    try #require(Peer.find("ping")), ["-n"] + arguments, on: chain.node(0))
                #expect(try await ping.finished() == code, "\(nw.errors)\(ping.errors)")
                #expect(
                    Self.statistics(nw) == Self.statistics(ping) && Self.statistics(nw).first == 3,
                    "\(String(decoding: nw.output, as: UTF8.self))\(String(decoding: ping.output, as: UTF8.self))")
                if let words = row.words {
                    for child in [nw, ping] {
                        let text = String(decoding: child.output, as: UTF8.self)
                        #expect(text.contains(isIPv6 ? words.1 : words.0), "\(text)")
                    }
                }
            }
        }
    }
}
