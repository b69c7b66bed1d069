import ArgumentParser
import CausewaySystem

/// `nw ping`: checks reachability and measures round-trip time.
struct PingCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "ping",
        abstract: "Is a host there, and how far away: ICMP echo, of both families.",
        discussion: """
            Uses the kernel's ICMP sockets, which need no privilege where net.ipv4.ping_group_range allows them, else raw ones. Ends \
            after -c requests, or on interrupt, with statistics.

            Examples:
              nw ping example.com
              nw ping -c 3 -i 0.2 ::1
              nw ping -s 1472 -c 1 192.0.2.1
              nw ping -c3 -I eth0 192.0.2.1    from an interface, or from an address of this host

            Exit codes:
              0   an answer came
              1   no answer came, or nothing could be sent
              64  wrong usage
            """)

    @Option(name: .customShort("c"), help: ArgumentHelp("End after so many requests.", valueName: "count"))
    var count: Int?

    @Option(name: .customShort("i"), help: ArgumentHelp("Time between requests.", valueName: "seconds"))
    var interval = 1.0

    @Option(name: .customShort("s"), help: ArgumentHelp("Bytes of content.", valueName: "bytes"))
    var size = 56

    @Option(name: .customShort("t"), help: ArgumentHelp("Time to live, or hop limit.", valueName: "hops"))
    var ttl: Int?

    @Option(name: .customShort("W"), help: ArgumentHelp("Wait so long for the last answers.", valueName: "seconds"))
    var wait = 1.0

    @Option(
        name: .customShort("M"),
        help: ArgumentHelp("May requests be cut up on their way: do (never), dont (yes).", valueName: "do|dont"))
    var fragmentation: String?

    @Option(
        name: .customShort("I"),
        help: ArgumentHelp("Send from this interface, or from this address of the host.", valueName: "origin"))
    var givenOrigin: String?

    @OptionGroup var numeric: NumericOption

    @Flag(name: .customShort("4"), help: "IPv4 only.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "IPv6 only.")
    var onlyIPv6 = false

    @Flag(name: .customShort("q"), help: "Only the statistics.")
    var isQuiet = false

    @Flag(name: .customShort("f"), help: "Send as soon as an answer came, or after 10 ms: needs root.")
    var floods = false

    @Flag(help: "One JSON object an answer, and one for the statistics.")
    var json = false

    @Argument(help: "The host.")
    var host: String

    var origin: PingOrigin? { givenOrigin.map { PingOrigin($0) } }

    func validate() throws {
        guard (0...65507).contains(size) else { throw ValidationError("-s needs 0...65507 bytes.") }
        guard interval >= 0.002 else { throw ValidationError("-i needs at least 0.002 seconds.") }
        if let count, count < 1 { throw ValidationError("-c needs a number above 0.") }
        if let ttl, !(1...255).contains(ttl) { throw ValidationError("-t needs 1...255 hops.") }
        if let fragmentation, !["do", "dont"].contains(fragmentation) { throw ValidationError("-M needs do or dont.") }
        if floods, getuid() != 0 { throw ValidationError("-f needs root: it sends as fast as answers come.") }
    }

    func run() async throws {
        try await reporting("ping") {
            let stop = StopMark()
            let command = self
            do {
                try await untilInterrupted {
                    let target = try await HostAddress.find(
                        command.host,
                        family: command.onlyIPv4 ? .ipv4 : command.onlyIPv6 ? .ipv6 : command.origin?.family)
                    try await stop.run("nw.ping") { try PingSession(command, target).run(until: stop) }
                }
            } catch let code as ExitCode where stop.isSet && code.rawValue > 128 {
                // An interrupt is the usual end of this command. The statistics are already printed.
            }
        }
    }
}
