import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// `nw packet`: builds a packet and shows, stores or sends it.
struct PacketCommand: Subcommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable { case udp, tcp, icmp, arp }

    static let outline = CommandConfiguration(
        commandName: "packet",
        abstract: "Build a packet and show it; optionally store or send it.",
        discussion: """
            Without --send nothing is sent and no privilege is required: the packet is shown decoded and as bytes, \
            with its lengths and checksums. Sending requires the capability CAP_NET_RAW. Send packets only to hosts \
            that you have permission to test.

            Examples:
              nw packet udp 10.0.0.1:101 --data 'Hello from nw'
              nw packet tcp [2001:db8::1]:80 --flags S --window 1024
              nw packet udp 10.0.0.1:9 --mf --fragment-offset 1480 --data x
              nw packet icmp 10.0.0.1 --sequence 1 --data ping -w echo.pcap
              nw packet arp 10.0.0.1 --source 10.0.0.2 --interface eth0 --send
            """)

    @Argument(help: "Protocol: udp, tcp, icmp or arp.")
    var kind: Kind

    @Argument(help: "Destination address; for udp and tcp with a port, such as 10.0.0.1:80 or [::1]:80.")
    var target: String

    @Option(
        help: ArgumentHelp(
            "Set the source address. (default: with --send the address of the route, otherwise unspecified)",
            valueName: "address"))
    var source: String?

    @Option(help: ArgumentHelp("Set the source port. (default: random)", valueName: "port"))
    var sourcePort: UInt16?

    @Option(help: ArgumentHelp("Set the payload.", valueName: "text"))
    var data = ""

    @Option(help: ArgumentHelp("Set the time to live or hop limit.", valueName: "hops"))
    var ttl: UInt8 = 64

    @Option(help: ArgumentHelp("Set the type of service or traffic class.", valueName: "number"))
    var tos: UInt8 = 0

    @Option(
        help: ArgumentHelp("Set the identification of IPv4 and of ICMP echo. (default: random)", valueName: "number"))
    var id: UInt16?

    @Option(help: ArgumentHelp("Set the TCP flags: letters of FSRPAUEW.", valueName: "letters"))
    var flags = "S"

    @Option(help: ArgumentHelp("Set the sequence number of TCP or ICMP echo.", valueName: "number"))
    var sequence: UInt32 = 0

    @Option(help: ArgumentHelp("Set the TCP acknowledgement number.", valueName: "number"))
    var acknowledgement: UInt32 = 0

    @Option(help: ArgumentHelp("Set the TCP window.", valueName: "bytes"))
    var window: UInt16 = 1024

    @OptionGroup(title: "Header options") var header: PacketHeaderOptions

    @Option(
        help: ArgumentHelp(
            "Set the source hardware address. (default: with --send the address of the interface)", valueName: "address"
        ))
    var sourceMac: String?

    @Option(
        name: .customShort("w"), help: ArgumentHelp("Store the packet in a new capture FILE.", valueName: "file"))
    var store: String?

    @Flag(help: "Print only the bytes, as hexadecimal digits.")
    var hex = false

    @Flag(help: "Print one JSON object, like nw read.")
    var json = false

    @Flag(help: "Send the packet.")
    var send = false

    @Option(help: ArgumentHelp("Send ARP on this interface.", valueName: "name"), completion: .interfaces)
    var interface: String?

    func validate() throws {
        if let letter = flags.uppercased().first(where: { Self.flagLetters[$0] == nil }) {
            throw ValidationError("--flags: '\(letter)' is not a TCP flag; the letters are FSRPAUEW.")
        }
        if header.urgent != nil, kind != .tcp { throw ValidationError("--urgent requires tcp.") }
        if kind == .arp {
            if header.checksum != nil { throw ValidationError("--checksum requires udp, tcp or icmp.") }
            if let option = header.optionOfIPv4 { throw ValidationError("\(option) requires udp, tcp or icmp.") }
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
        guard let wanted = AddressText.ipv4(target) else { throw CommandFailure("'\(target)' is not an IPv4 address") }
        let hardware = try senderHardware()
        let sender = try sender(toward: wanted)
        builder.add(EthernetHeader(destination: .broadcast, source: hardware, type: .arp))
        builder.add(
            ARPPacket(operation: .request, senderHardware: hardware, senderAddress: sender, targetAddress: wanted))
    }

    private func internet(_ builder: inout PacketBuilder) throws -> SocketAddress {
        let (host, port) = try place()
        let number: IPProtocolNumber
        if let destination = AddressText.ipv4(host) {
            number = kind == .udp ? .udp : kind == .tcp ? .tcp : .icmp
            let sender = try sender(toward: destination)
            var header = IPv4Header(
                source: sender, destination: destination, proto: number, timeToLive: ttl,
                identification: id ?? UInt16.random(in: 0...UInt16.max))
            header.typeOfService = tos
            self.header.apply(to: &header)
            builder.add(header)
            content(&builder, port, isIPv6: false)
            return SocketAddress(destination, port: 0)
        }
        guard let destination = IPv6Address(host) else {
            throw CommandFailure("'\(host)' is not an address; names are not resolved")
        }
        if let option = header.optionOfIPv4 { throw CommandFailure("\(option) requires an IPv4 destination") }
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
        guard let colon = target.lastIndex(of: ":"), let port = UInt16(digits: target[target.index(after: colon)...])
        else {
            throw CommandFailure("'\(target)' has no port: expected a form such as 10.0.0.1:80 or [::1]:80")
        }
        host = String(target[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return (host, port)
    }

    private func content(_ builder: inout PacketBuilder, _ port: UInt16, isIPv6: Bool) {
        let sender = sourcePort ?? UInt16.random(in: 1024...UInt16.max)
        switch kind {
        case .udp:
            var header = UDPHeader(sourcePort: sender, destinationPort: port)
            header.checksum = self.header.checksum?.value
            builder.add(header)
        case .tcp:
            var header = TCPHeader(sourcePort: sender, destinationPort: port, flags: tcpFlags)
            header.checksum = self.header.checksum?.value
            header.urgentPointer = self.header.urgent?.value ?? 0
            header.sequence = sequence
            header.acknowledgement = acknowledgement
            header.window = window
            builder.add(header)
        case .icmp:
            var header = ICMPHeader.echo(
                type: isIPv6 ? 128 : 8, identifier: id ?? UInt16.random(in: 0...UInt16.max),
                sequence: UInt16(truncatingIfNeeded: sequence))
            header.checksum = self.header.checksum?.value
            builder.add(header)
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
            return printLine("\(Hexadecimal.text(bytes))")
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
        guard let interface else { throw CommandFailure("sending ARP requires --interface") }
        let index = if_nametoindex(interface)
        guard index != 0 else {
            throw CommandFailure("no interface is named \(interface); nw interfaces lists the interfaces")
        }
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
                "sending requires the capability CAP_NET_RAW: run as root, or run once: setcap cap_net_raw=ep \(CommandLine.arguments[0])"
            )
        }
    }
}
