/// Filter primitives that describe headers of tunnels and tags. After such a primitive, the rest of the expression uses
/// other header positions.
extension FilterLayout {
    /// The largest values that a filter primitive can compare with a header field.
    private enum Maximum {
        /// The VLAN identifier bits (IEEE 802.1Q §9.6).
        static let vlan: UInt32 = 0xFFF
        static let mplsLabel: UInt32 = 0xFFFFF
        static let pppoeSession: UInt32 = 0xFFFF
        static let virtualNetwork: UInt32 = 0xFF_FFFF
    }

    /// The LLC control field (IEEE 802.2 §5.2).
    private enum Control {
        static let formatMask: UInt32 = 0x03
        static let supervisory: UInt32 = 0x01
        static let unnumbered: UInt32 = 0x03
        /// The lowest bit of the LLC control field. The value has 16 bits and begins with this field. Only information
        /// frames have a 0 in this bit.
        static let isNoInformation: UInt32 = 0x0100
        /// A mask for all bits of an LLC control field except the poll or final bit.
        static let withoutPoll: UInt32 = 0xEF
    }

    mutating func vlan(_ number: UInt32?) throws(FilterMeaningError) -> FilterNode {
        guard link == .ethernet || link == .cooked || link == .wireless else {
            throw .init("'vlan' requires Ethernet, but the link type is \(linkType.name)")
        }
        if let number, number > Maximum.vlan {
            throw .init("VLAN \(number) is out of range: the maximum is \(Maximum.vlan)")
        }
        guard labels == 0 else { throw .init("'vlan' cannot follow 'mpls'") }
        let types = FilterRanges.merged(
            [FilterPayload.vlan, FilterPayload.providerVLAN, FilterPayload.vlan9100].map { $0...$0 })
        var nodes = [FilterNode.member(load(2, typeAt), mask: .max, types)]
        if link == .wireless { nodes.insert(carriesData, at: 0) }
        if let frameCondition { nodes.insert(frameCondition, at: 0) }
        let control = link == .cooked ? networkAt : typeAt + 2
        if let number { nodes.append(.equal(load(2, control), number, mask: Maximum.vlan)) }
        if link != .cooked {
            typeAt += 4
        } else {
            // After its first VLAN tag, a Linux cooked packet has the same form as an Ethernet frame after a VLAN tag.
            // So treat it as Ethernet from here on.
            link = .ethernet
            typeAt = networkAt + 2
        }
        networkAt = typeAt + 2
        return .all(nodes)
    }

    mutating func mpls(_ label: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let label, label > Maximum.mplsLabel {
            throw .init("MPLS label \(label) is out of range: the maximum is \(Maximum.mplsLabel)")
        }
        var nodes: [FilterNode] = []
        if labels > 0 {
            nodes.append(.equal(load(1, networkAt - 2), 0, mask: 1))
        } else {
            switch link {
            case .ethernet, .cooked, .ppp, .hdlc: nodes.append(type(FilterPayload.mpls))
            default: throw .init("'mpls' is not supported with link type \(linkType.name)")
            }
        }
        if let label { nodes.append(.equal(network(4, 0), label << 12, mask: 0xFFFF_F000)) }
        labels += 1
        link = .mpls
        networkAt += 4
        return .all(nodes)
    }

    mutating func pppoe(_ session: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let session, session > Maximum.pppoeSession {
            throw .init("PPPoE session \(session) is out of range: the maximum is \(Maximum.pppoeSession)")
        }
        guard link == .ethernet || link == .cooked else {
            throw .init("'pppoes' requires Ethernet, but the link type is \(linkType.name)")
        }
        var nodes = [type(FilterPayload.pppoeSession)]
        if let session { nodes.append(.equal(network(2, 2), session)) }
        link = .ppp
        typeAt = networkAt + 6
        networkAt += 8
        return .all(nodes)
    }

    /// Enters a Geneve (RFC 8926) or VXLAN (RFC 7348) tunnel. The inner frame's position depends on the packet.
    mutating func overlay(isGeneve: Bool, _ network: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let network, network > Maximum.virtualNetwork {
            throw .init("virtual network \(network) is out of range: the maximum is \(Maximum.virtualNetwork)")
        }
        let tunnel = FilterTunnel(isGeneve: isGeneve, network: network, slot: prologue.slotCount)
        guard tunnel.slot + tunnel.slotCount <= FilterGenerator.placeSlots else {
            throw .init("too many nested tunnels")
        }
        let version4 = FilterNode.all(
            [type(FilterPayload.ipv4), .equal(protocolField4, .udp), firstFragment] + tunnel.nodes { transport($0, $1) }
        )
        let version6 = FilterNode.all(
            [type(FilterPayload.ipv6), .equal(protocolField6, .udp)]
                + tunnel.nodes { self.network($0, IPv6Header.byteCount + $1) })
        enterFrame(tunnel.slot, networkSlot: isGeneve ? tunnel.slot + 1 : nil)
        prologue.reserve(tunnel.slotCount)
        return .any([version4, version6])
    }

    /// Returns two values: a test for whether the frame has an LLC header, and the offset of the control field in this
    /// header.
    private func llcHeader() throws(FilterMeaningError) -> (FilterNode, control: Int) {
        switch link {
        case .ethernet:
            let hasLength = FilterNode.not(.test(load(2, typeAt), mask: .max, .greater, FilterPayload.maximumLength))
            return (ofFrame(.all([hasLength, .not(.equal(load(2, typeAt + 2), FilterPayload.rawIPX))])), typeAt + 4)
        case .llc: return (.constant(true), typeAt - 4)
        case .wireless: return (carriesData, typeAt - 4)
        default: throw .init("'llc' requires Ethernet or another IEEE 802 link, but the link type is \(linkType.name)")
        }
    }

    func llc(_ name: String?) throws(FilterMeaningError) -> FilterNode {
        let (isLLC, at) = try llcHeader()
        guard let name else { return isLLC }
        let supervisory: [String: UInt32] = ["rr": 0x01, "rnr": 0x05, "rej": 0x09]
        let unnumbered: [String: UInt32] = [
            "ui": 0x03, "ua": 0x63, "disc": 0x43, "sabme": 0x6F, "test": 0xE3, "xid": 0xAF, "frmr": 0x87,
        ]
        switch name {
        case "i": return .all([isLLC, .equal(load(2, at), 0, mask: Control.isNoInformation)])
        case "s": return .all([isLLC, .equal(load(1, at), Control.supervisory, mask: Control.formatMask)])
        case "u": return .all([isLLC, .equal(load(1, at), Control.unnumbered, mask: Control.formatMask)])
        default: break
        }
        if let value = supervisory[name] { return .all([isLLC, .equal(load(1, at), value)]) }
        if let value = unnumbered[name] { return .all([isLLC, .equal(load(1, at), value, mask: Control.withoutPoll)]) }
        throw .init("unknown LLC type '\(name)'")
    }

    /// Returns where the bytes of `proto[...]` start: a position in the packet, and an offset from it. Also returns the
    /// condition that the packet has this protocol.
    func indexed(_ proto: FilterProtocol) throws(FilterMeaningError) -> (place: FilterPlace, offset: Int, FilterNode) {
        switch proto {
        case .link: return (linkHeader.place, linkHeader.offset, .constant(true))
        case .ip, .ip6, .arp, .rarp, .atalk, .decnet, .lat, .sca, .mopdl, .moprc:
            guard let node = abbreviation(proto) else { break }
            return (networkPlace, networkAt, node)
        case .tcp, .udp, .sctp, .icmp, .igmp, .igrp, .pim, .vrrp, .carp:
            let number: IPProtocolNumber =
                switch proto {
                case .tcp: .tcp
                case .udp: .udp
                case .sctp: .sctp
                case .icmp: .icmp
                case .igmp: .igmp
                case .igrp: .igrp
                case .pim: .pim
                default: .vrrp
                }
            return (
                FilterPlace(slot: networkPlace.slot, header: networkAt), networkAt,
                .all([ipProtocol(number, version6: false), firstFragment])
            )
        case .icmp6:
            return (
                networkPlace, networkAt + IPv6Header.byteCount,
                .all([type(FilterPayload.ipv6), .equal(protocolField6, .icmp6)])
            )
        case .radio where [.wirelessRadio, .wirelessAVS, .wirelessPrism].contains(linkType):
            return (.packet, 0, .constant(true))
        case .radio: throw .init("'radio' requires radiotap headers, but the link type is \(linkType.name)")
        default: break
        }
        throw .init("'\(proto.rawValue)' cannot be indexed")
    }
}
