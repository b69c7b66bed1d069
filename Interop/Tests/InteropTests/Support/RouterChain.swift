import Foundation
import Testing

/// Two hosts with a chain of routers between them, each in a network namespace, for the duration of a test. No packet leaves them.
///
/// Node 0 is the near host, the last node the far host. Link n connects node n (address 1) with node n + 1 (address 2).
struct RouterChain: Sendable {
    static let routers = 3
    static let last = routers + 1
    static let far4 = "10.77.\(20 + routers).2"
    static let far6 = "fd77:\(20 + routers)::2"

    private let prefix: String

    func node(_ number: Int) -> String { "\(prefix)-\(number)" }

    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (RouterChain, Scratch) async throws -> Void
    ) async throws {
        let chain = RouterChain(prefix: "nwc-\(getpid())-\(UInt32.random(in: .min ... .max))")
        defer { try? chain.shell((0...last).map { "ip netns delete \(chain.node($0)) 2>/dev/null || true" }) }
        try chain.shell(chain.commands)
        // For a moment, a new link does not transport IPv6, so try several times.
        let ping = "ping -6 -n -q -c 1 -W 1 \(far6)"
        try chain.run("for attempt in 1 2 3 4 5 6 7 8 9; do \(ping) && exit 0; sleep 0.2; done; exit 1", on: 0)
        try await Scratch.run { scratch in try await body(chain, scratch) }
    }

    /// Runs shell commands on a node, as root.
    func run(_ commands: String, on number: Int) throws {
        try shell(["ip netns exec \(node(number)) sh -c '\(commands)'"])
    }

    /// Loads nft(8) rules on a node.
    func filter(_ rules: String, on number: Int) throws {
        try shell(["ip netns exec \(node(number)) nft '\(rules)'"])
    }

    /// Returns the nftables commands for a rule, with the table and the chain that it needs.
    static func chain(_ hook: String, _ rule: String) -> String {
        "add table inet t; add chain inet t c { type filter hook \(hook) priority 0; }; add rule inet t c \(rule)"
    }

    private var commands: [String] {
        var lines: [String] = []
        for number in 0...Self.last {
            lines += [
                "ip netns add \(node(number))", "ip -n \(node(number)) link set lo up",
                "ip netns exec \(node(number)) sysctl -qw net.ipv6.conf.default.accept_dad=0 "
                    + "net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0",
            ]
        }
        for link in 0..<Self.last {
            let (near, far) = (node(link), node(link + 1))
            lines.append("ip -n \(near) link add l\(link) type veth peer name l\(link) netns \(far)")
            for (node, end) in [(near, 1), (far, 2)] {
                lines += [
                    "ip -n \(node) address add 10.77.\(20 + link).\(end)/24 dev l\(link)",
                    "ip -n \(node) address add fd77:\(20 + link)::\(end)/64 dev l\(link) nodad",
                    "ip -n \(node) link set l\(link) up",
                ]
            }
        }
        for number in 0...Self.last {
            for link in 0..<Self.last where link != number && link != number - 1 {
                // A route to a later link goes through the far end of this node's next link. A route to an earlier link
                // goes through the near end of this node's previous link.
                let (way, end) = link > number ? (number, 2) : (number - 1, 1)
                lines += [
                    "ip -n \(node(number)) route add 10.77.\(20 + link).0/24 via 10.77.\(20 + way).\(end)",
                    "ip -n \(node(number)) -6 route add fd77:\(20 + link)::/64 via fd77:\(20 + way)::\(end)",
                ]
            }
        }
        return lines
    }

    private func shell(_ lines: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", lines.joined(separator: "\n")]
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let said = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NeverHappened(description: "a chain of routers: \(String(decoding: said, as: UTF8.self))")
        }
    }
}
