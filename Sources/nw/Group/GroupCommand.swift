import ArgumentParser
import Causeway
import CausewayTypes

/// `nw group`: joins multicast groups, prints received messages and sends typed lines.
struct GroupCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "group",
        abstract: "Join multicast groups: print received messages, send standard input.",
        usage: "nw group [<options>] GROUP... PORT",
        discussion: """
            Each received message is printed as a line that begins with its sender. Each read of standard input, up \
            to 16 KiB, is sent as one message to all groups. After the end of standard input the command continues \
            to receive, unless -N is given.

            Examples:
              nw group 239.7.7.7 7777                       exchange messages
              nw group -d 224.0.0.251 ff02::fb 5353 --reuse show multicast DNS
              nw group 232.1.1.1 5000 --from 192.0.2.7      receive from one sender
            """)

    @Argument(help: "IPv4 or IPv6 multicast addresses, followed by the port.")
    var place: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Join on this interface only. (default: all multicast interfaces)", valueName: "name"),
        completion: .interfaces)
    var interface: String?

    @Option(help: ArgumentHelp("Send with this time to live or hop limit. (default: 1)", valueName: "hops"))
    var ttl: UInt8?

    @Option(help: ArgumentHelp("Receive only from this host (source-specific multicast).", valueName: "address"))
    var from: String?

    @Flag(help: "Ignore unicast datagrams to the port.")
    var multicastOnly = false

    @Flag(help: "Do not receive the messages that this host sends.")
    var noLoop = false

    @Flag(help: "Share the port with other programs.")
    var reuse = false

    @Flag(help: "Send each message back to its sender.")
    var echo = false

    @Option(
        name: .customLong("most"),
        help: ArgumentHelp("Print at most BYTES of a message, and mark longer messages.", valueName: "bytes"))
    var maximum: Int?

    @Flag(name: .customShort("d"), help: "Do not read standard input.")
    var detached = false

    @Flag(name: .customShort("N"), help: "Exit at the end of standard input.")
    var endsWithInput = false

    @Flag(help: "Print one JSON object per message.")
    var json = false

    @Flag(name: .short, help: "Report state changes on standard error, and the interface of each message.")
    var verbose = false

    func validate() throws {
        if let maximum, maximum < 0 { throw ValidationError("--most must be 0 or more bytes.") }
        _ = try makeGroup()
    }

    func run() async throws {
        try await reporting("group") { try await GroupSession(group: try makeGroup(), command: self).run() }
    }

    private func makeGroup() throws -> NWConnectionGroup {
        guard place.count >= 2, let last = place.last else { throw ValidationError("Specify GROUP... and PORT.") }
        let port = try parsePort(last)
        let members = place.dropLast().map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: port) }
        let source = from.map { NWEndpoint.hostPort(host: NWEndpoint.Host($0), port: .any) }
        let descriptor: NWMulticastGroup
        do {
            descriptor = try NWMulticastGroup(for: Array(members), from: source, disableUnicast: multicastOnly)
        } catch {
            throw ValidationError("Each GROUP must be a multicast address, and --from the address of a host.")
        }
        let parameters = NWParameters.udp
        parameters.allowLocalEndpointReuse = reuse
        if let interface {
            guard let found = NWInterface(name: interface) else {
                throw ValidationError("No interface is named \(interface); nw interfaces lists the interfaces.")
            }
            parameters.requiredInterface = found
        }
        let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
        ip?.hopLimit = ttl ?? 0
        ip?.disableMulticastLoopback = noLoop
        return NWConnectionGroup(with: descriptor, using: parameters)
    }
}
