import ArgumentParser
import CausewayPackets
import CausewaySystem

/// `nw scan`: finds open ports on hosts.
struct ScanCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "scan",
        abstract: "Show which ports of hosts are open, closed or filtered, and why.",
        discussion: """
            Sends TCP SYN probes if this process may use raw sockets; otherwise it makes TCP connections, which \
            require no privilege. --udp sends datagrams. --hosts only finds the hosts that are up: by ARP or IPv6 \
            neighbor discovery on the same link, if this process may send frames, otherwise by ICMP echo.

            Hosts are addresses, names, networks and ranges; no other host is probed. With several hosts, the hosts \
            that are up are found first: by ARP or neighbor discovery on the same link, otherwise by ICMP echo and \
            TCP ports 443, 80 and 22. The probe rate adapts to the loss of probes, and never exceeds --rate; ports \
            without an answer are probed again. On interrupt the results so far are shown.

            Scan only hosts whose owner permits it.

            Examples:
              nw scan 192.0.2.1
              nw scan -p 22,80,8000-8100,https 192.0.2.0/28 2001:db8::1
              nw scan --udp --top-ports 50 192.0.2.1-20
              nw scan --hosts --json 192.0.2.0/24
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Probe these ports: numbers, ranges and service names, separated by commas; - selects all ports.",
            valueName: "ports"))
    var ports: String?

    @Option(
        help: ArgumentHelp("Probe the COUNT most common ports. (default: 1000, with --udp 100)", valueName: "count"))
    var topPorts: Int?

    @Flag(name: [.long, .customLong("sS", withSingleDash: true)], help: "Send SYN probes. Requires CAP_NET_RAW.")
    var syn = false

    @Flag(name: [.long, .customLong("sT", withSingleDash: true)], help: "Make TCP connections. Requires no privilege.")
    var connect = false

    @Flag(name: [.long, .customLong("sU", withSingleDash: true)], help: "Probe UDP ports.")
    var udp = false

    @Flag(name: [.long, .customLong("sn", withSingleDash: true)], help: "Find the hosts that are up; probe no ports.")
    var hosts = false

    @Flag(
        name: [.customLong("no-discovery"), .customLong("Pn", withSingleDash: true)],
        help: "Probe the ports of all hosts, even if they seem to be down.")
    var skipsDiscovery = false

    @Option(help: ArgumentHelp("Send at most COUNT probes per second.", valueName: "count"))
    var rate: Double?

    @Option(help: ArgumentHelp("Repeat a probe without an answer up to COUNT times.", valueName: "count"))
    var retries = 2

    @Option(name: .customShort("W"), help: ArgumentHelp("Wait at most SECONDS for each answer.", valueName: "seconds"))
    var wait = 1.0

    @Flag(name: .customShort("4"), help: "Resolve names to IPv4 addresses only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "Resolve names to IPv6 addresses only.")
    var onlyIPv6 = false

    @Flag(name: .customLong("open"), help: "Show only open ports, and only hosts with open ports.")
    var onlyOpen = false

    @OptionGroup var numeric: NumericOption

    @Flag(help: "Print one JSON object per host.")
    var json = false

    @Argument(help: ArgumentHelp("Addresses, names, networks (a/24) and ranges (a-b).", valueName: "hosts"))
    var targets: [String]

    func validate() throws {
        if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 cannot be combined.") }
        guard [syn, connect, udp, hosts].count(where: \.self) <= 1 else {
            throw ValidationError("--syn, --connect, --udp and --hosts cannot be combined.")
        }
        guard ports == nil || topPorts == nil else { throw ValidationError("-p and --top-ports cannot be combined.") }
        if let topPorts, !(1...65_535).contains(topPorts) { throw ValidationError("--top-ports must be 1 to 65535.") }
        if let rate, !(rate >= 0.1) { throw ValidationError("--rate must be at least 0.1 probes per second.") }
        guard (0..<ScanProbes.maximumAttempts).contains(retries) else {
            throw ValidationError("--retries must be 0 to \(ScanProbes.maximumAttempts - 1).")
        }
        guard (0.05...5).contains(wait) else { throw ValidationError("-W must be 0.05 to 5 seconds.") }
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
            let stop = StopFlag()
            let command = self
            do {
                try await untilInterrupted {
                    let found = try await ScanTarget.find(
                        command.targets, family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : nil)
                    try await stop.run("nw.scan") { try ScanSession(command, found).run(until: stop) }
                }
            } catch let code as ExitCode where stop.isSet && code.rawValue > 128 {
                // End successfully. The interrupt lost no results, because all results so far are already printed.
            }
        }
    }
}
