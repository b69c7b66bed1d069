import ArgumentParser
import CausewaySystem

/// `nw ping`: checks reachability and measures round-trip time.
struct PingCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "ping",
        abstract: "Check whether a host is reachable and measure round-trip times (ICMP echo).",
        discussion: """
            Uses ICMP sockets, which require no privilege if net.ipv4.ping_group_range allows them, otherwise raw \
            sockets. Ends after -c requests or on interrupt, and prints statistics.

            Examples:
              nw ping example.com
              nw ping -c 3 -i 0.2 ::1
              nw ping -s 1472 -c 1 192.0.2.1
              nw ping -c3 -I eth0 192.0.2.1    select the interface or source

            Exit codes:
              0   a reply was received
              1   no reply was received, or no request could be sent
              64  usage error
            """)

    @Option(name: .customShort("c"), help: ArgumentHelp("Exit after COUNT requests.", valueName: "count"))
    var count: Int?

    @Option(name: .customShort("i"), help: ArgumentHelp("Wait SECONDS between requests.", valueName: "seconds"))
    var interval = 1.0

    @Option(name: .customShort("s"), help: ArgumentHelp("Send this many bytes of payload.", valueName: "bytes"))
    var size = 56

    @Option(name: .customShort("t"), help: ArgumentHelp("Set the time to live or hop limit.", valueName: "hops"))
    var ttl: Int?

    @Option(name: .customShort("W"), help: ArgumentHelp("Wait SECONDS for the last replies.", valueName: "seconds"))
    var wait = 1.0

    @Option(
        name: .customShort("M"),
        help: ArgumentHelp("Set the Don't Fragment bit (do), or allow fragmentation (dont).", valueName: "do|dont"))
    var fragmentation: String?

    @Option(
        name: .customShort("I"),
        help: ArgumentHelp("Send from this interface, or from this address of this host.", valueName: "origin"),
        completion: .interfaces)
    var givenOrigin: String?

    @OptionGroup var numeric: NumericOption

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    var onlyIPv6 = false

    @Flag(name: .customShort("q"), help: "Print only the statistics.")
    var isQuiet = false

    @Flag(name: .customShort("f"), help: "Send the next request after a reply, or after 10 ms. Requires root.")
    var floods = false

    @Flag(help: "Print one JSON object per reply, and one for the statistics.")
    var json = false

    @Argument(help: "Host name or address.")
    var host: String

    var origin: PingOrigin? { givenOrigin.map { PingOrigin($0) } }

    func validate() throws {
        if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 cannot be combined.") }
        guard (0...65507).contains(size) else { throw ValidationError("-s must be 0 to 65507 bytes.") }
        guard (0.002...1_000_000).contains(interval) else {
            throw ValidationError("-i must be 0.002 to 1000000 seconds.")
        }
        guard (0...1_000_000).contains(wait) else { throw ValidationError("-W must be 0 to 1000000 seconds.") }
        if let count, count < 1 { throw ValidationError("-c must be more than 0.") }
        if let ttl, !(1...255).contains(ttl) { throw ValidationError("-t must be 1 to 255 hops.") }
        if let fragmentation, !["do", "dont"].contains(fragmentation) {
            throw ValidationError("-M must be do or dont.")
        }
        if floods, getuid() != 0 {
            throw ValidationError("-f requires root, because it sends as fast as replies arrive.")
        }
    }

    func run() async throws {
        try await reporting("ping") {
            let stop = StopFlag()
            let command = self
            do {
                try await untilInterrupted {
                    let target = try await HostAddress.find(
                        command.host,
                        family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : command.origin?.family)
                    try await stop.run("nw.ping") { try PingSession(command, target).run(until: stop) }
                }
            } catch let code as ExitCode where stop.isSet && code.rawValue > 128 {
                // End successfully: an interrupt is the usual end of this command, and the statistics are already
                // printed.
            }
        }
    }
}
