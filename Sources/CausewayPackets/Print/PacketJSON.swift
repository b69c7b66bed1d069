import CausewayTypes
import CausewayWire

/// Packets as JSON, one object a line: for programs.
///
/// Layers are named in their order; each that has fields here is a member of its own. What was cut off or wrong is in `issues`, checksums say
/// what they are worth. Times are decimal seconds, exact, as a string.
public struct PacketJSON: Sendable {
    private var out = TextBuffer()
    private var needsComma = false
    /// Of the packet before, in quotation marks: usually this one's too.
    private var linkName: (type: LinkType, text: TextBuffer)?

    public init() {}

    /// The object for a packet, with a line break behind it.
    public mutating func line(
        _ packet: CapturedPacket, _ octets: borrowing Octets, checksumOffloaded: Bool = false
    ) -> [UInt8] {
        write(packet, octets, checksumOffloaded)
        return out.octets
    }

    /// The same, behind what is in `buffer`: nothing is allocated for it.
    package mutating func append(_ packet: CapturedPacket, _ octets: borrowing Octets, to buffer: inout [UInt8]) {
        write(packet, octets, false)
        out.append(to: &buffer)
    }

    private mutating func write(_ packet: CapturedPacket, _ octets: borrowing Octets, _ checksumOffloaded: Bool) {
        out.removeAll()
        needsComma = false
        let view = Packet(octets.from(0), linkType: packet.linkType, originalCount: packet.originalCount)
        out.put("{")
        time(packet.time)
        number("length", packet.originalCount)
        number("captured", octets.count)
        key("link")
        name(of: packet.linkType)
        number("interface", packet.interface)
        layers(view)
        link(view)
        network(view)
        transport(view)
        issues(view.issues)
        let sums = view.checksums(offloaded: checksumOffloaded)
        if sums.network != .notPresent { word("networkChecksum", sums.network.word) }
        if sums.transport != .notPresent { word("transportChecksum", sums.transport.word) }
        number("payload", view.layers.payloadOriginalCount)
        if let name = view.serverName { text("tlsServerName", name) }
        domainNames(view)
        out.put("}\n")
    }

    private mutating func time(_ time: CaptureTime) {
        key("time", "\"")
        out.decimal(time.seconds)
        out.put(".")
        out.decimal(time.nanoseconds, width: 9, padding: 0x30)
        out.put("\"")
    }

    private mutating func layers(_ packet: borrowing Packet) {
        key("layers", "[")
        for index in 0..<packet.layers.count {
            if index > 0 { out.put(",") }
            quoted(packet.layers[index].kind.word)
        }
        out.put("]")
        needsComma = true
    }

    private mutating func link(_ packet: borrowing Packet) {
        if let header = packet.ethernet {
            begin("ethernet")
            hardware("source", header.source)
            hardware("destination", header.destination)
            number("type", header.type.rawValue)
            end()
        }
        if let tag = packet.vlan {
            begin("vlan")
            number("id", tag.identifier)
            number("priority", tag.priority)
            end()
        }
        if let arp = packet.arp {
            begin("arp")
            number("operation", arp.operation.rawValue)
            hardware("senderHardware", arp.senderHardware)
            address("sender", arp.senderAddress)
            hardware("targetHardware", arp.targetHardware)
            address("target", arp.targetAddress)
            end()
        }
    }

    private mutating func network(_ packet: borrowing Packet) {
        if let header = packet.ipv4 {
            begin("ipv4")
            address("source", header.source)
            address("destination", header.destination)
            number("protocol", header.proto.rawValue)
            number("ttl", header.timeToLive)
            number("id", header.identification)
            number("tos", header.typeOfService)
            number("fragmentOffset", Int(header.fragmentOffset) * 8)
            flag("dontFragment", header.dontFragment)
            flag("moreFragments", header.moreFragments)
            end()
        } else if let header = packet.ipv6 {
            begin("ipv6")
            address("source", header.source)
            address("destination", header.destination)
            number("nextHeader", header.nextHeader.rawValue)
            number("hopLimit", header.hopLimit)
            number("flowLabel", header.flowLabel)
            end()
        }
    }

    private mutating func transport(_ packet: borrowing Packet) {
        if let header = packet.tcp {
            begin("tcp")
            number("sourcePort", header.sourcePort)
            number("destinationPort", header.destinationPort)
            number("sequence", header.sequence)
            number("acknowledgement", header.acknowledgement)
            number("window", header.window)
            key("flags", "\"")
            out.put(header.flags)
            out.put("\"")
            end()
        } else if let header = packet.udp {
            begin("udp")
            number("sourcePort", header.sourcePort)
            number("destinationPort", header.destinationPort)
            number("length", header.length ?? 0)
            end()
        } else if let header = packet.icmp {
            begin("icmp")
            number("type", header.type)
            number("code", header.code)
            number("id", header.identifier)
            number("sequence", header.sequence)
            end()
        }
    }

    private mutating func domainNames(_ packet: borrowing Packet) {
        guard let message = packet.dns else { return }
        begin("dns")
        number("id", message.id)
        flag("response", message.flags.contains(.isResponse))
        number("code", message.responseCode.rawValue)
        key("questions")
        out.put("[")
        for (index, question) in message.questions.enumerated() {
            if index > 0 { out.put(",") }
            string("\(question.name)")
        }
        out.put("]")
        needsComma = true
        number("answers", message.answers.count)
        end()
    }

    private mutating func issues(_ issues: PacketLayers.Issues) {
        guard !issues.isEmpty else { return }
        let names: [(PacketLayers.Issues, StaticString)] = [
            (.cutOff, "cutOff"), (.badVersion, "badVersion"), (.badHeaderLength, "badHeaderLength"),
            (.badLength, "badLength"),
            (.tooManyLayers, "tooManyLayers"), (.unknownProtocol, "unknownProtocol"), (.laterFragment, "laterFragment"),
        ]
        key("issues")
        out.put("[")
        var isFirst = true
        for (issue, name) in names where issues.contains(issue) {
            if !isFirst { out.put(",") }
            isFirst = false
            out.put("\"")
            out.put(name)
            out.put("\"")
        }
        out.put("]")
        needsComma = true
    }

    @inline(__always)
    private mutating func key(_ name: StaticString, _ opening: StaticString = "") {
        out.key(name, afterComma: needsComma, opening)
        needsComma = true
    }
    @inline(__always)
    private mutating func begin(_ name: StaticString) {
        key(name, "{")
        needsComma = false
    }
    private mutating func end() {
        out.put("}")
        needsComma = true
    }
    @inline(__always)
    private mutating func number<T: BinaryInteger>(_ name: StaticString, _ value: T) {
        key(name)
        out.decimal(value)
    }
    @inline(__always)
    private mutating func flag(_ name: StaticString, _ value: Bool) {
        if value { key(name, "true") } else { key(name, "false") }
    }
    /// A member whose value needs no escapes.
    private mutating func word(_ name: StaticString, _ value: StaticString) {
        key(name)
        quoted(value)
    }
    private mutating func quoted(_ value: StaticString) {
        out.put("\"")
        out.put(value)
        out.put("\"")
    }
    @inline(__always)
    private mutating func hardware(_ name: StaticString, _ address: MACAddress) {
        key(name, "\"")
        out.mac(address.bits)
        out.put("\"")
    }
    @inline(__always)
    private mutating func address(_ name: StaticString, _ address: IPv4Address) {
        key(name, "\"")
        out.ipv4(address.bits)
        out.put("\"")
    }
    @inline(__always)
    private mutating func address(_ name: StaticString, _ address: IPv6Address) {
        key(name, "\"")
        out.ipv6(high: address.high, low: address.low)
        out.put("\"")
    }
    private mutating func name(of type: LinkType) {
        if let known = linkName, known.type == type { return out.put(known.text) }
        var text = TextBuffer()
        text.json(type.name)
        linkName = (type, text)
        out.put(text)
    }
    private mutating func text(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }
    private mutating func string(_ value: String) { out.json(value) }
}

extension TCPHeader.Flags {
    /// The letters that tools show: `S` for SYN, `.` for ACK.
    public var letters: String {
        var text = TextBuffer()
        text.put(self)
        return text.string
    }
}

extension TextBuffer {
    /// A string in quotation marks (RFC 8259 §7).
    mutating func json(_ value: String) {
        put("\"")
        for octet in value.utf8 {
            switch octet {
            case 0x22, 0x5C:
                put("\\")
                put(octet: octet)
            case 0..<0x20:
                put("\\u")
                hex(octet, width: 4)
            default: put(octet: octet)
            }
        }
        put("\"")
    }

    /// The letters of flags, in the order of their bits.
    mutating func put(_ flags: TCPHeader.Flags) {
        let letters: InlineArray<9, UInt8> = [0x46, 0x53, 0x52, 0x50, 0x2E, 0x55, 0x45, 0x57, 0x65]
        for bit in 0..<9 where flags.rawValue >> UInt16(bit) & 1 != 0 { put(octet: letters[bit]) }
    }
}
