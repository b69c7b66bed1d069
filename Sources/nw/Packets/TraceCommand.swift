import ArgumentParser
import CausewaySystem

/// `nw trace`: lists the routers on the path to a host.
struct TraceCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "trace",
        abstract: "Show the routers on the path to a host. Requires no privilege.",
        discussion: """
            Sends datagrams with a time to live of 1, 2, 3 and so on, all at once, and shows which routers report \
            that it expired. A router that answers only some of the probes limits its rate of reports: its line is \
            marked (limited), and no packet was lost. --icmp sends ICMP echo requests, and --tcp makes TCP \
            connections, which pass packet filters that drop datagrams. --df with --size finds the path MTU: !F-1400 \
            is the largest packet that is forwarded.

            Examples:
              nw trace example.com
              nw trace -m 8 -w 0.5 2001:db8::1
              nw trace --tcp -p 443 example.com
              nw trace --df --size 1500 example.com
            """)

    @Option(name: .customShort("m"), help: ArgumentHelp("Trace at most this many hops.", valueName: "hops"))
    var maximum = 30

    @Option(name: .customShort("q"), help: ArgumentHelp("Send COUNT probes per hop.", valueName: "count"))
    var probes = 3

    @Option(name: .customShort("w"), help: ArgumentHelp("Wait SECONDS for answers.", valueName: "seconds"))
    var wait = 1.0

    @Option(
        name: .customShort("p"),
        help: ArgumentHelp(
            "Set the first destination port (default: 33434) or, with --tcp, the port (default: 80).", valueName: "port"
        ))
    var givenPort: UInt16?

    @Flag(name: [.long, .customShort("I")], help: "Probe with ICMP echo requests.")
    var icmp = false

    @Flag(name: [.long, .customShort("T")], help: "Probe with TCP connections.")
    var tcp = false

    @Option(help: ArgumentHelp("Send packets of this length, including headers; not with --tcp.", valueName: "bytes"))
    var size: Int?

    @Flag(name: [.customLong("df"), .customShort("F")], help: "Set the Don't Fragment bit.")
    var unfragmented = false

    var port: UInt16 { givenPort ?? (tcp ? 80 : 33434) }

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    var onlyIPv6 = false

    @OptionGroup var numeric: NumericOption

    @Flag(help: "Print one JSON object per hop.")
    var json = false

    @Argument(help: "Host name or address.")
    var host: String

    func validate() throws {
        if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 cannot be combined.") }
        guard (1...64).contains(maximum) else { throw ValidationError("-m must be 1 to 64 hops.") }
        guard (1...10).contains(probes) else { throw ValidationError("-q must be 1 to 10 probes.") }
        guard (0.01...60).contains(wait) else { throw ValidationError("-w must be 0.01 to 60 seconds.") }
        guard !icmp || !tcp else { throw ValidationError("--icmp and --tcp cannot be combined.") }
        if let size, !(48...65_000).contains(size) { throw ValidationError("--size must be 48 to 65000 bytes.") }
        guard size == nil || !tcp else { throw ValidationError("--size and --tcp cannot be combined.") }
        guard tcp || icmp || Int(port) + maximum * probes <= 65535 else {
            throw ValidationError("-p is too large: each probe uses the next port, up to 65535.")
        }
    }

    func run() async throws {
        try await reporting("trace") {
            let stop = StopFlag()
            let command = self
            try await untilInterrupted {
                let target = try await HostAddress.find(
                    command.host, family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : nil)
                try await stop.run("nw.trace") { try TraceSession(command, target).run(until: stop) }
            }
        }
    }
}
