import ArgumentParser
import CausewayPackets
import CausewaySystem

/// `nw scan`: finds the open ports of hosts.
struct ScanCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "scan",
        abstract: "Show which ports of hosts are open, closed or filtered, and why.",
        discussion: """
            Asks by SYN where this program may use raw sockets, else by connections of the kernel's, which need no privilege; or by \
            datagrams (--udp), or only whether the hosts are there (--hosts: on the same link by ARP and its like for IPv6, where this \
            program may send frames; else by ICMP echo). Hosts are addresses, names, networks and ranges: only \
            what is named is asked. Where there are several hosts, first those that are there are found: on the same link by ARP and \
            its like, else by ICMP echo and at the TCP ports 443, 80 and 22. Probes leave as fast as answers show that they get through, never faster than --rate; silent ports \
            are asked again. On interrupt, what is known so far is shown.

            Scan only hosts whose owner agrees.

            Examples:
              nw scan 192.0.2.1
              nw scan -p 22,80,8000-8100,https 192.0.2.0/28 2001:db8::1
              nw scan --udp --top-ports 50 192.0.2.1-20
              nw scan --hosts --json 192.0.2.0/24
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Ports: numbers, ranges and services, with commas; - is all.", valueName: "ports"))
    var ports: String?

    @Option(
        help: ArgumentHelp("The so many ports most worth asking (default: 1000, with --udp 100).", valueName: "count"))
    var topPorts: Int?

    @Flag(name: [.long, .customLong("sS", withSingleDash: true)], help: "Ask by SYN: needs CAP_NET_RAW.")
    var syn = false

    @Flag(name: [.long, .customLong("sT", withSingleDash: true)], help: "Ask by connections: needs no privilege.")
    var connect = false

    @Flag(name: [.long, .customLong("sU", withSingleDash: true)], help: "Ask UDP ports.")
    var udp = false

    @Flag(name: [.long, .customLong("sn", withSingleDash: true)], help: "Only whether the hosts are there.")
    var hosts = false

    @Flag(
        name: [.customLong("no-discovery"), .customLong("Pn", withSingleDash: true)],
        help: "Ask the ports of hosts that do not seem to be there, too.")
    var skipsDiscovery = false

    @Option(help: ArgumentHelp("At most so many probes a second.", valueName: "count"))
    var rate: Double?

    @Option(help: ArgumentHelp("Ask a silent port again so many times.", valueName: "count"))
    var retries = 2

    @Option(name: .customShort("W"), help: ArgumentHelp("Wait at most so long for an answer.", valueName: "seconds"))
    var wait = 1.0

    @Flag(name: .customShort("4"), help: "IPv4 addresses of names only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "IPv6 addresses of names only.")
    var onlyIPv6 = false

    @Flag(name: .customLong("open"), help: "Show only open ports, and only hosts that have some.")
    var onlyOpen = false

    @OptionGroup var numeric: NumericOption

    @Flag(help: "One JSON object a host.")
    var json = false

    @Argument(help: ArgumentHelp("Addresses, names, networks (a/24) and ranges (a-b).", valueName: "hosts"))
    var targets: [String]

    func validate() throws {
        guard [syn, connect, udp, hosts].count(where: \.self) <= 1 else {
            throw ValidationError("--syn, --connect, --udp and --hosts exclude each other.")
        }
        guard ports == nil || topPorts == nil else { throw ValidationError("-p and --top-ports exclude each other.") }
        if let topPorts, !(1...65_535).contains(topPorts) { throw ValidationError("--top-ports needs 1...65535.") }
        if let rate, !(rate >= 0.1) { throw ValidationError("--rate needs at least 0.1 probes a second.") }
        guard (0..<ScanProbes.maximumAttempts).contains(retries) else {
            throw ValidationError("--retries needs 0...\(ScanProbes.maximumAttempts - 1).")
        }
        guard (0.05...5).contains(wait) else { throw ValidationError("-W needs 0.05...5 seconds.") }
        if let ports { _ = try Self.list(ports) }
    }

    private static func list(_ text: String) throws -> PortList {
        do { return try PortList(text) } catch {
            throw ValidationError("-p: \(error.description).")
        }
    }

    /// Returns the ports to probe on every host.
    func portList(_ technique: ScanTechnique) throws -> [UInt16] {
        if technique == .echo { return [0] }
        if let ports { return try Self.list(ports).ports }
        return PortList(top: topPorts ?? (technique == .udp ? 100 : 1000), technique: technique).ports
    }

    func run() async throws {
        try await reporting("scan") {
            let stop = StopMark()
            let command = self
            do {
                try await untilInterrupted {
                    let found = try await ScanTarget.find(
                        command.targets, family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : nil)
                    try await stop.run("nw.scan") { try ScanSession(command, found).run(until: stop) }
                }
            } catch let code as ExitCode where stop.isSet && code.rawValue > 128 {
                // The results so far are already printed: the interrupt lost nothing.
            }
        }
    }
}
