/// Writes each packet header as a JSON object.
extension PacketJSON {
    /// The members of the innermost headers. Each range gives their position in the JSON text. These members are
    /// written again outside the `layers` array.
    struct Level {
        var ethernet: Range<Int>?
        var vlan: Range<Int>?
        var arp: Range<Int>?
        var network: (kind: LayerKind, members: Range<Int>)?
        var transport: (kind: LayerKind, members: Range<Int>)?

        /// Records the range of a header's members. If the header begins another encapsulation level, forgets the
        /// earlier level's ranges.
        mutating func note(_ kind: LayerKind, _ members: Range<Int>) {
            switch kind {
            case .ethernet: self = Level(ethernet: members)
            case .vlan: vlan = vlan ?? members
            case .arp: arp = members
            case .ipv4, .ipv6: (network, transport) = ((kind, members), nil)
            case .tcp, .udp, .icmp, .icmp6: transport = (kind, members)
            default: break
            }
        }
    }

    mutating func layers(_ packet: borrowing Packet) {
        key("layers", "[")
        var level = Level()
        for index in 0..<packet.layers.count {
            if index > 0 { out.put(",") }
            let layer = packet.layers[index]
            out.put("{\"layer\":")
            quoted(layer.kind.word)
            let start = out.count
            needsComma = true
            members(layer.kind, packet.bytes, Int(layer.offset))
            // The comma before the header's members is not part of their range.
            if out.count > start { level.note(layer.kind, start + 1..<out.count) }
            out.put("}")
        }
        out.put("]")
        needsComma = true
        repeated("ethernet", level.ethernet)
        repeated("vlan", level.vlan)
        repeated("arp", level.arp)
        if let network = level.network { repeated(network.kind == .ipv6 ? "ipv6" : "ipv4", network.members) }
        guard let transport = level.transport else { return }
        switch transport.kind {
        case .tcp: repeated("tcp", transport.members)
        case .udp: repeated("udp", transport.members)
        default: repeated("icmp", transport.members)
        }
    }

    private mutating func repeated(_ name: StaticString, _ members: Range<Int>?) {
        guard let members else { return }
        begin(name)
        out.putAgain(members)
        end()
    }

    /// Writes a header's members; none if the header is truncated.
    private mutating func members(_ kind: LayerKind, _ p: borrowing ByteView, _ at: Int) {
        switch kind {
        case .ethernet: if let header = try? EthernetHeader(p, at: at) { members(of: header) }
        case .vlan: if let tag = try? VLANTag(p, at: at) { members(of: tag) }
        case .arp: if let packet = (try? ARPPacket(p, at: at)) ?? nil { members(of: packet) }
        case .ipv4: if let header = try? IPv4Header(p, at: at) { members(of: header) }
        case .ipv6: if let header = try? IPv6Header(p, at: at) { members(of: header) }
        case .tcp: if let header = try? TCPHeader(p, at: at) { members(of: header) }
        case .udp: if let header = try? UDPHeader(p, at: at) { members(of: header) }
        case .icmp, .icmp6: if let header = try? ICMPHeader(p, at: at) { members(of: header) }
        case .vxlan, .geneve: if let word = try? p.u32(at + 4) { number("vni", word >> 8) }
        case .mpls: if let entry = try? p.u32(at) { members(ofLabel: entry) }
        case .gre: if let type = try? p.u16(at + 2) { number("type", type) }
        case .pppoe: if let session = try? p.u16(at + 2) { number("session", session) }
        case .ppp: if let found = try? PPPProtocol.number(p, at: at) { number("protocol", found.number) }
        default: break
        }
    }

    private mutating func members(ofLabel entry: UInt32) {
        number("label", entry >> 12)
        number("trafficClass", entry >> 9 & 7)
        number("ttl", entry & 0xFF)
    }

    private mutating func members(of header: EthernetHeader) {
        hardware("source", header.source)
        hardware("destination", header.destination)
        number("type", header.type.rawValue)
    }

    private mutating func members(of tag: VLANTag) {
        number("id", tag.identifier)
        number("priority", tag.priority)
    }

    private mutating func members(of packet: ARPPacket) {
        number("operation", packet.operation.rawValue)
        hardware("senderHardware", packet.senderHardware)
        address("sender", packet.senderAddress)
        hardware("targetHardware", packet.targetHardware)
        address("target", packet.targetAddress)
    }

    private mutating func members(of header: IPv4Header) {
        address("source", header.source)
        address("destination", header.destination)
        number("protocol", header.proto.rawValue)
        number("ttl", header.timeToLive)
        number("id", header.identification)
        number("tos", header.typeOfService)
        number("fragmentOffset", Int(header.fragmentOffset) * 8)
        flag("dontFragment", header.dontFragment)
        flag("moreFragments", header.moreFragments)
    }

    private mutating func members(of header: IPv6Header) {
        address("source", header.source)
        address("destination", header.destination)
        number("nextHeader", header.nextHeader.rawValue)
        number("hopLimit", header.hopLimit)
        number("flowLabel", header.flowLabel)
    }

    private mutating func members(of header: TCPHeader) {
        number("sourcePort", header.sourcePort)
        number("destinationPort", header.destinationPort)
        number("sequence", header.sequence)
        number("acknowledgement", header.acknowledgement)
        number("window", header.window)
        key("flags", "\"")
        out.put(header.flags)
        out.put("\"")
    }

    private mutating func members(of header: UDPHeader) {
        number("sourcePort", header.sourcePort)
        number("destinationPort", header.destinationPort)
        number("length", header.length ?? 0)
    }

    private mutating func members(of header: ICMPHeader) {
        number("type", header.type)
        number("code", header.code)
        number("id", header.identifier)
        number("sequence", header.sequence)
    }
}
