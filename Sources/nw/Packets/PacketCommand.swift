import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw packet`: builds a packet and shows, stores or sends it.
struct PacketCommand: Subcommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable { case udp, tcp, icmp, arp }

    static let outline = CommandConfiguration(
        commandName: "packet",
        abstract: "Make a packet, and look at it; store it or send it if asked to.",
        discussion: """
            Without --send nothing leaves this host and no privilege is needed: the packet is shown as a line and as bytes, with \
            lengths and checksums filled in. Sending needs the capability CAP_NET_RAW. Send only to hosts that you may.

            Examples:
              nw packet udp 10.0.0.1:101 --data 'Hello from nw'
              nw packet tcp [2001:db8::1]:80 --flags S --window 1024
              nw packet icmp 10.0.0.1 --sequence 1 --data ping -w echo.pcap
              nw packet arp 10.0.0.1 --source 10.0.0.2 --source-mac 02:00:00:00:00:01 --interface eth0 --send
            """)

    @Argument(help: "udp, tcp, icmp or arp.")
    var kind: Kind

    @Argument(help: "An address; for udp and tcp with a port, 10.0.0.1:80 or [::1]:80.")
    var target: String

    @Option(
        help: ArgumentHelp(
            "Sender's address. (default: with --send the one that the route gives, else unspecified)",
            valueName: "address"))
    var source: String?

    @Option(help: ArgumentHelp("Sender's port. (default: random)", valueName: "port"))
    var sourcePort: UInt16?

    @Option(help: ArgumentHelp("Content.", valueName: "text"))
    var data = ""

    @Option(help: ArgumentHelp("Time to live, or hop limit.", valueName: "hops"))
    var ttl: UInt8 = 64

    @Option(help: ArgumentHelp("Type of service, or traffic class.", valueName: "number"))
    var tos: UInt8 = 0

    @Option(help: ArgumentHelp("Identification of IPv4, and of an echo. (default: random)", valueName: "number"))
    var id: UInt16?

    @Option(help: ArgumentHelp("TCP's flags: letters of FSRPAUEW.", valueName: "letters"))
    var flags = "S"

    @Option(help: ArgumentHelp("Sequence number of TCP or of an echo.", valueName: "number"))
    var sequence: UInt32 = 0

    @Option(help: ArgumentHelp("TCP's acknowledgement.", valueName: "number"))
    var acknowledgement: UInt32 = 0

    @Option(help: ArgumentHelp("TCP's window.", valueName: "bytes"))
    var window: UInt16 = 1024

    @Option(
        help: ArgumentHelp(
            "Sender's hardware address. (default: with --send the interface's own)", valueName: "address"))
    var sourceMac: String?

    @Option(
        name: .customShort("w"), help: ArgumentHelp("Store the packet in this new capture file.", valueName: "file"))
    var store: String?

    @Flag(help: "Only the bytes, as hexadecimal digits.")
    var hex = false

    @Flag(help: "One JSON object, as by nw read.")
    var json = false

    @Flag(help: "Send it.")
    var send = false

    @Option(help: ArgumentHelp("Interface to send ARP on.", valueName: "name"))
    var interface: String?

    func validate() throws {
        if let letter = flags.uppercased().first(where: { Self.flagLetters[$0] == nil }) {
            throw ValidationError("--flags: '\(letter)' is not a TCP flag; the letters are FSRPAUEW.")
        }
    }

    func run() async throws {
        try await reporting("packet") { try make() }
    }

    private func make() throws {
        var builder = PacketBuilder()
        let linkType: LinkType
        var address: SocketAddress?
        if kind == .arp {
            try arp(&builder)
            linkType = .ethernet
        } else {
            address = try internet(&builder)
            linkType = .raw
        }
        let bytes = builder.finish()
        try show(bytes, linkType)
        if send { try inject(bytes, address) }
    }

    private func arp(_ builder: inout PacketBuilder) throws {
        guard let wanted = IPv4Address(target) else { throw CommandFailure("\(target) is no IPv4 address") }
        let hardware = try senderHardware()
        let sender = try sender(toward: wanted)
        builder.add(EthernetHeader(destination: .broadcast, source: hardware, type: .arp))
        builder.add(
            ARPPacket(operation: .request, senderHardware: hardware, senderAddress: sender, targetAddress: wanted))
    }

    private func internet(_ builder: inout PacketBuilder) throws -> SocketAddress {
        let (host, port) = try place()
        let number: IPProtocolNumber
        if let destination = IPv4Address(host) {
            number = kind == .udp ? .udp : kind == .tcp ? .tcp : .icmp
            let sender = try sender(toward: destination)
            var header = IPv4Header(
                source: sender, destination: destination, proto: number, timeToLive: ttl,
                identification: id ?? UInt16.random(in: 0...UInt16.max))
            header.typeOfService = tos
            builder.add(header)
            content(&builder, port, isIPv6: false)
            return SocketAddress(destination, port: 0)
        }
        guard let destination = IPv6Address(host) else {
            throw CommandFailure("\(host) is no address; names are not looked up")
        }
        let sender = try sender(toward: destination)
        number = kind == .udp ? .udp : kind == .tcp ? .tcp : .icmp6
        var header = IPv6Header(source: sender, destination: destination, nextHeader: number, hopLimit: ttl)
        header.trafficClass = tos
        builder.add(header)
        content(&builder, port, isIPv6: true)
        return SocketAddress(destination, port: 0)
    }

    private func place() throws -> (String, UInt16) {
        if kind == .icmp { return (target, 0) }
        var host = target
        guard let colon = target.lastIndex(of: ":"), let port = UInt16(target[target.index(after: colon)...]) else {
            throw CommandFailure("\(target) has no port: write 10.0.0.1:80 or [::1]:80")
        }
        host = String(target[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return (host, port)
    }

    private func content(_ builder: inout PacketBuilder, _ port: UInt16, isIPv6: Bool) {
        let sender = sourcePort ?? UInt16.random(in: 1024...UInt16.max)
        switch kind {
        case .udp: builder.add(UDPHeader(sourcePort: sender, destinationPort: port))
        case .tcp:
            var header = TCPHeader(sourcePort: sender, destinationPort: port, flags: tcpFlags)
            header.sequence = sequence
            header.acknowledgement = acknowledgement
            header.window = window
            builder.add(header)
        case .icmp:
            builder.add(
                .echo(
                    type: isIPv6 ? 128 : 8, identifier: id ?? UInt16.random(in: 0...UInt16.max),
                    sequence: UInt16(truncatingIfNeeded: sequence)), version6: isIPv6)
        case .arp: break
        }
        if !data.isEmpty { builder.add(payload: Array(data.utf8)) }
    }

    private static let flagLetters: [Character: TCPHeader.Flags] = [
        "F": .fin, "S": .syn, "R": .rst, "P": .psh, "A": .ack, ".": .ack, "U": .urg, "E": .ece, "W": .cwr,
    ]

    private var tcpFlags: TCPHeader.Flags {
        TCPHeader.Flags(flags.uppercased().compactMap { Self.flagLetters[$0] })
    }

    private func show(_ bytes: [UInt8], _ linkType: LinkType) throws {
        let packet = CapturedPacket(
            time: CaptureTime(seconds: Int64(time(nil)), microseconds: 0), originalCount: bytes.count,
            capturedCount: bytes.count, linkType: linkType)
        if let store {
            let writer = PcapWriter(linkType: linkType)
            var file = writer.header()
            writer.append(packet, ByteView(bytes.span), to: &file)
            do { try OpenFile(creating: store).writeAll(Data(file)) } catch {
                throw CommandFailure("create \(store) failed", error)
            }
        }
        if json {
            var printer = PacketJSON()
            return try printer.line(packet, ByteView(bytes.span)).withUnsafeBytes {
                try OpenFile.standardOutput.writeAll($0)
            }
        }
        if hex {
            return printLine("\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())")
        }
        var options = PacketPrinter.Options()
        options.verbosity = 1
        options.time = .none
        options.dump = .hexAndTextWithLink
        var printer = PacketPrinter(options)
        try printer.line(packet, ByteView(bytes.span)).withUnsafeBytes { try OpenFile.standardOutput.writeAll($0) }
    }

    private func openSocket(_ address: SocketAddress?) throws -> Descriptor {
        if let address { return try PacketSockets.rawIP(isIPv6: address.family == .ipv6) }
        guard let interface else { throw CommandFailure("--interface tells where to send ARP") }
        let index = if_nametoindex(interface)
        guard index != 0 else { throw CommandFailure("there is no interface \(interface)") }
        return try PacketSockets.frames(interface: index)
    }

    private func inject(_ bytes: [UInt8], _ address: SocketAddress?) throws {
        do {
            let socket = try openSocket(address)
            let count = try bytes.withUnsafeBytes { bytes throws(SystemError) in
                try PacketSockets.send(socket.rawValue, bytes, to: address)
            }
            printError("nw: packet: sent \(count) bytes")
        } catch let error as SystemError {
            guard error.errno == Errno.notPermitted else {
                throw CommandFailure("send failed: \(String(cString: strerror(error.errno)))")
            }
            throw CommandFailure(
                "sending needs the capability CAP_NET_RAW: run as root, or once: setcap cap_net_raw=ep \(CommandLine.arguments[0])"
            )
        }
    }
}
