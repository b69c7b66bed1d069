/// Primitives that change the header positions for the rest of the expression.
extension FilterLayout {
    mutating func vlan(_ number: UInt32?) throws(FilterMeaningError) -> FilterNode {
        guard link == .ethernet || link == .cooked || link == .wireless else {
            throw .init("'vlan' requires Ethernet, but the link type is \(linkType.name)")
        }
        if let number, number > 4095 { throw .init("VLAN \(number) is out of range: the maximum is 4095") }
        guard labels == 0 else { throw .init("'vlan' cannot follow 'mpls'") }
        let types = FilterRanges.merged([0x8100...0x8100, 0x88A8...0x88A8, 0x9100...0x9100])
        var nodes = [FilterNode.member(load(2, typeAt), mask: .max, types)]
        if link == .wireless { nodes.insert(carriesData, at: 0) }
        if let frameCondition { nodes.insert(frameCondition, at: 0) }
        let control = link == .cooked ? networkAt : typeAt + 2
        if let number { nodes.append(.equal(load(2, control), number, mask: 0xFFF)) }
        if link != .cooked {
            typeAt += 4
        } else {
            // After the first tag, the type has the offset that it has in an Ethernet frame with a tag.
            link = .ethernet
            typeAt = networkAt + 2
        }
        networkAt = typeAt + 2
        return .all(nodes)
    }

    mutating func mpls(_ label: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let label, label > 0xFFFFF { throw .init("MPLS label \(label) is out of range: the maximum is 1048575") }
        var nodes: [FilterNode] = []
        if labels > 0 {
            nodes.append(.equal(load(1, networkAt - 2), 0, mask: 1))
        } else {
            switch link {
            case .ethernet, .cooked, .ppp, .hdlc: nodes.append(type(0x8847))
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
        if let session, session > 0xFFFF {
            throw .init("PPPoE session \(session) is out of range: the maximum is 65535")
        }
        guard link == .ethernet || link == .cooked else {
            throw .init("'pppoes' requires Ethernet, but the link type is \(linkType.name)")
        }
        var nodes = [type(0x8864)]
        if let session { nodes.append(.equal(network(2, 2), session)) }
        link = .ppp
        typeAt = networkAt + 6
        networkAt += 8
        return .all(nodes)
    }

    /// Enters a Geneve (RFC 8926) or VXLAN (RFC 7348) tunnel. The position of the inner frame depends on the packet.
    mutating func overlay(isGeneve: Bool, _ network: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let network, network > 0xFF_FFFF {
            throw .init("virtual network \(network) is out of range: the maximum is 16777215")
        }
        let tunnel = FilterTunnel(isGeneve: isGeneve, network: network, slot: slots)
        guard slots + tunnel.slotCount <= 8 else { throw .init("too many nested tunnels") }
        let version4 = FilterNode.all(
            [type(0x800), .equal(self.network(1, 9), 17), firstFragment] + tunnel.nodes { transport($0, $1) })
        let version6 = FilterNode.all(
            [type(0x86DD), .equal(self.network(1, 6), 17)] + tunnel.nodes { self.network($0, 40 + $1) })
        enterFrame(slots, networkSlot: isGeneve ? slots + 1 : nil)
        slots += tunnel.slotCount
        return .any([version4, version6])
    }

    /// Returns the condition for an LLC header, and the offset of its control field.
    private func llcHeader() throws(FilterMeaningError) -> (FilterNode, control: Int) {
        switch link {
        case .ethernet:
            let hasLength = FilterNode.not(.test(load(2, typeAt), mask: .max, .greater, 1500))
            return (ofFrame(.all([hasLength, .not(.equal(load(2, typeAt + 2), 0xFFFF))])), typeAt + 4)
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
        case "i": return .all([isLLC, .equal(load(2, at), 0, mask: 0x0100)])
        case "s": return .all([isLLC, .equal(load(1, at), 0x01, mask: 0x03)])
        case "u": return .all([isLLC, .equal(load(1, at), 0x03, mask: 0x03)])
        default: break
        }
        if let value = supervisory[name] { return .all([isLLC, .equal(load(1, at), value)]) }
        if let value = unnumbered[name] { return .all([isLLC, .equal(load(1, at), value, mask: 0xEF)]) }
        throw .init("unknown LLC type '\(name)'")
    }

    /// Returns the position that `proto[...]` is relative to, and the condition for it.
    func indexed(_ proto: FilterProtocol) throws(FilterMeaningError) -> (place: FilterPlace, offset: Int, FilterNode) {
        switch proto {
        case .link: return (FilterPlace(slot: linkSlot), linkAt, .constant(true))
        case .ip, .ip6, .arp, .rarp, .atalk, .decnet, .lat, .sca, .mopdl, .moprc:
            guard let node = abbreviation(proto) else { break }
            return (networkPlace, networkAt, node)
        case .tcp, .udp, .sctp, .icmp, .igmp, .igrp, .pim, .vrrp, .carp:
            let number: UInt32 =
                switch proto {
                case .tcp: 6
                case .udp: 17
                case .sctp: 132
                case .icmp: 1
                case .igmp: 2
                case .igrp: 9
                case .pim: 103
                default: 112
                }
            return (
                FilterPlace(slot: networkPlace.slot, header: networkAt), networkAt,
                .all([ipProtocol(number, version6: false), firstFragment])
            )
        case .icmp6:
            return (
                networkPlace, networkAt + 40, .all([type(0x86DD), .equal(network(1, 6), 58)])
            )
        case .radio where [.wirelessRadio, .wirelessAVS, .wirelessPrism].contains(linkType):
            return (.packet, 0, .constant(true))
        case .radio: throw .init("'radio' requires radiotap headers, but the link type is \(linkType.name)")
        default: break
        }
        throw .init("'\(proto.rawValue)' cannot be indexed")
    }
}
