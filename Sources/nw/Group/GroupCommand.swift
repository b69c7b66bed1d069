import ArgumentParser
import Causeway
import CausewayTypes

/// `nw group`: joins multicast groups, prints received messages and sends typed lines.
struct GroupCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "group",
        abstract: "Join multicast groups: print what comes, send standard input.",
        usage: "nw group [<options>] GROUP... PORT",
        discussion: """
            Each message is printed as a line that begins with its sender. Each read of standard input, up to 16 KiB, is one \
            message to all groups. After the end of standard input nw goes on listening, unless -N is given.

            Examples:
              nw group 239.7.7.7 7777                    talk to everybody who does the same
              nw group -d 224.0.0.251 ff02::fb 5353 --reuse   what mDNS says, beside its daemon
              nw group 232.1.1.1 5000 --from 192.0.2.7   one sender alone
            """)

    @Argument(help: "Multicast addresses, IPv4 or IPv6, and their port.")
    var place: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("Only this interface. (default: each that can)", valueName: "name"))
    var interface: String?

    @Option(help: ArgumentHelp("Time to live, or hop limit, of what is sent. (default: 1)", valueName: "hops"))
    var ttl: UInt8?

    @Option(help: ArgumentHelp("Hear only this host.", valueName: "address"))
    var from: String?

    @Flag(help: "Leave out what is sent to this host and not to the groups.")
    var multicastOnly = false

    @Flag(help: "Do not hear oneself.")
    var noLoop = false

    @Flag(help: "Share the port with other programs.")
    var reuse = false

    @Flag(help: "Send each message back to its sender.")
    var echo = false

    @Option(
        name: .customLong("most"),
        help: ArgumentHelp("Deliver at most BYTES of a message; report longer messages.", valueName: "bytes"))
    var maximum: Int?

    @Flag(name: .customShort("d"), help: "Do not read standard input.")
    var detached = false

    @Flag(name: .customShort("N"), help: "End with standard input.")
    var endsWithInput = false

    @Flag(help: "Print one JSON object per message.")
    var json = false

    @Flag(name: .short, help: "Report states on standard error.")
    var verbose = false

    func validate() throws {
        if let maximum, maximum < 0 { throw ValidationError("--most needs a number of bytes.") }
        _ = try makeGroup()
    }

    func run() async throws {
        try await reporting("group") { try await GroupSession(group: try makeGroup(), command: self).run() }
    }

    private func makeGroup() throws -> NWConnectionGroup {
        guard place.count >= 2, let last = place.last else { throw ValidationError("Give GROUP... and PORT.") }
        let port = try parsePort(last)
        let members = place.dropLast().map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: port) }
        let source = from.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: .any) }
        let descriptor: NWMulticastGroup
        do {
            descriptor = try NWMulticastGroup(for: Array(members), from: source, disableUnicast: multicastOnly)
        } catch {
            throw ValidationError("GROUP must be multicast addresses, --from the address of one host.")
        }
        let parameters = NWParameters.udp
        parameters.allowLocalEndpointReuse = reuse
        if let interface {
            guard let found = NWInterface(name: interface) else {
                throw ValidationError("There is no interface '\(interface)'.")
            }
            parameters.requiredInterface = found
        }
        let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
        ip?.hopLimit = ttl ?? 0
        ip?.disableMulticastLoopback = noLoop
        return NWConnectionGroup(with: descriptor, using: parameters)
    }
}
