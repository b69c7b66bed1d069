import ArgumentParser
import CausewaySystem

/// `nw trace`: lists the routers on the path to a host.
struct TraceCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "trace",
        abstract: "Show the routers on the way to a host. Needs no privilege.",
        discussion: """
            Sends datagrams that live for 1, 2, 3... hops, all at once, and shows who reports their end. A router that answers some of \
            them and passes others on limits its reports: that is marked (limited) and is no loss. With --icmp echo requests are sent, \
            with --tcp connections are begun, which filters let pass where they drop datagrams. --df with --size shows where packets \
            become too long: !F-1400 is the longest that goes on.

            Examples:
              nw trace example.com
              nw trace -m 8 -w 0.5 2001:db8::1
              nw trace --tcp -p 443 example.com
              nw trace --df --size 1500 example.com
            """)

    @Option(name: .customShort("m"), help: ArgumentHelp("Look no farther than this.", valueName: "hops"))
    var maximum = 30

    @Option(name: .customShort("q"), help: ArgumentHelp("Datagrams for each hop.", valueName: "count"))
    var probes = 3

    @Option(name: .customShort("w"), help: ArgumentHelp("Wait so long for answers.", valueName: "seconds"))
    var wait = 1.0

    @Option(
        name: .customShort("p"),
        help: ArgumentHelp("The first port (default: 33434); with --tcp the port (default: 80).", valueName: "port"))
    var givenPort: UInt16?

    @Flag(name: [.long, .customShort("I")], help: "By ICMP echo.")
    var icmp = false

    @Flag(name: [.long, .customShort("T")], help: "By connections.")
    var tcp = false

    @Option(help: ArgumentHelp("Length of the packets, with headers; not of --tcp.", valueName: "bytes"))
    var size: Int?

    @Flag(name: [.customLong("df"), .customShort("F")], help: "Let nobody cut packets up.")
    var unfragmented = false

    var port: UInt16 { givenPort ?? (tcp ? 80 : 33434) }

    @Flag(name: .customShort("4"), help: "IPv4 only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "IPv6 only.")
    var onlyIPv6 = false

    @OptionGroup var numeric: NumericOption

    @Flag(help: "One JSON object a hop.")
    var json = false

    @Argument(help: "The host.")
    var host: String

    func validate() throws {
        guard (1...64).contains(maximum) else { throw ValidationError("-m needs 1...64 hops.") }
        guard (1...10).contains(probes) else { throw ValidationError("-q needs 1...10 datagrams.") }
        guard (0.01...60).contains(wait) else { throw ValidationError("-w needs 0.01...60 seconds.") }
        guard !icmp || !tcp else { throw ValidationError("--icmp and --tcp exclude each other.") }
        if let size, !(48...65_000).contains(size) { throw ValidationError("--size needs 48...65000 bytes.") }
        guard size == nil || !tcp else { throw ValidationError("--size has no meaning with --tcp.") }
        guard tcp || icmp || Int(port) + maximum * probes <= 65535 else {
            throw ValidationError("-p leaves no room for the other ports.")
        }
    }

    func run() async throws {
        try await reporting("trace") {
            let stop = StopMark()
            let command = self
            try await untilInterrupted {
                let target = try await HostAddress.find(
                    command.host, family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : nil)
                try await stop.run("nw.trace") { try TraceSession(command, target).run(until: stop) }
            }
        }
    }
}
