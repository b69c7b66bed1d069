/// Primitives that change where everything behind them is looked for.
extension FilterLayout {
    mutating func vlan(_ number: UInt32?) throws(FilterMeaningError) -> FilterNode {
        guard link == .ethernet || link == .cooked else {
            throw .init("'vlan' needs Ethernet, and the link type is \(linkType.name)")
        }
        if let number, number > 4095 { throw .init("a VLAN has a number of at most 4095, not \(number)") }
        guard labels == 0 else { throw .init("'vlan' cannot stand behind 'mpls'") }
        let types = FilterRanges.merged([0x8100...0x8100, 0x88A8...0x88A8, 0x9100...0x9100])
        var nodes = [FilterNode.member(load(2, typeAt), mask: .max, types)]
        let control = link == .ethernet ? typeAt + 2 : networkAt
        if let number { nodes.append(.equal(load(2, control), number, mask: 0xFFF)) }
        if link == .ethernet {
            typeAt += 4
        } else {
            // Behind the first tag the type stands where Ethernet has it.
            link = .ethernet
            typeAt = networkAt + 2
        }
        networkAt = typeAt + 2
        return .all(nodes)
    }

    mutating func mpls(_ label: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let label, label > 0xFFFFF { throw .init("an MPLS label is at most 1048575, not \(label)") }
        var nodes: [FilterNode] = []
        if labels > 0 {
            nodes.append(.equal(load(1, networkAt - 2), 0, mask: 1))
        } else {
            switch link {
            case .ethernet, .cooked, .ppp: nodes.append(type(0x8847))
            default: throw .init("'mpls' is not to be had with link type \(linkType.name)")
            }
        }
        if let label { nodes.append(.equal(network(4, 0), label << 12, mask: 0xFFFF_F000)) }
        labels += 1
        link = .mpls
        networkAt += 4
        return .all(nodes)
    }

    mutating func pppoe(_ session: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let session, session > 0xFFFF { throw .init("a PPPoE session is at most 65535, not \(session)") }
        guard link == .ethernet || link == .cooked else {
            throw .init("'pppoes' needs Ethernet, and the link type is \(linkType.name)")
        }
        var nodes = [type(0x8864)]
        if let session { nodes.append(.equal(network(2, 2), session)) }
        link = .ppp
        typeAt = networkAt + 6
        networkAt += 8
        return .all(nodes)
    }

    /// Geneve (RFC 8926) and VXLAN (RFC 7348): the frame inside has a place that only the packet knows.
    mutating func overlay(isGeneve: Bool, _ network: UInt32?) throws(FilterMeaningError) -> FilterNode {
        if let network, network > 0xFF_FFFF { throw .init("a virtual network has at most 24 bits, not \(network)") }
        let port: UInt32 = isGeneve ? 6081 : 4789
        let slot = slots
        guard slot < 8 else { throw .init("too many tunnels within each other") }
        func tunnel(_ at: (Int, Int) -> FilterLoad, _ offset: Int) -> [FilterNode] {
            let flags = isGeneve ? FilterNode.equal(at(1, 8), 0, mask: 0xC0) : .equal(at(1, 8), 0x08, mask: 0x08)
            var nodes = [FilterNode.equal(at(2, 2), port), flags]
            if let network { nodes.append(.equal(at(4, 12), network << 8, mask: 0xFFFF_FF00)) }
            nodes.append(.tunnel(slot: slot, place: at(1, 0).place, offset: at(1, 0).offset + 16))
            return nodes
        }
        let version4 = FilterNode.all(
            [type(0x800), .equal(self.network(1, 9), 17), firstFragment] + tunnel({ transport($0, $1) }, 0))
        let version6 = FilterNode.all(
            [type(0x86DD), .equal(self.network(1, 6), 17)] + tunnel({ self.network($0, 40 + $1) }, 0))
        slots += 1
        self.slot = slot
        (link, typeAt, networkAt, labels) = (.ethernet, 12, 14, 0)
        return .any([version4, version6])
    }

    func llc(_ name: String?) throws(FilterMeaningError) -> FilterNode {
        guard link == .ethernet else { throw .init("'llc' needs Ethernet, and the link type is \(linkType.name)") }
        let hasLength = FilterNode.not(.test(load(2, typeAt), mask: .max, .greater, 1500))
        let isLLC = FilterNode.all([hasLength, .not(.equal(load(2, typeAt + 2), 0xFFFF))])
        guard let name else { return isLLC }
        let at = typeAt + 4
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
        throw .init("there is no LLC type '\(name)'")
    }

    func bound(isIn: Bool) throws(FilterMeaningError) -> FilterNode {
        let outgoing: FilterNode
        switch linkType {
        case .linuxCooked: outgoing = .equal(FilterLoad(size: 2, offset: 0), 4)
        case .linuxCooked2: outgoing = .equal(FilterLoad(size: 1, offset: 10), 4)
        default:
            guard isLive else {
                throw .init(
                    "'\(isIn ? "in" : "out")bound' can be told in a live capture only, not from link type \(linkType.name)"
                )
            }
            outgoing = .equal(FilterLoad(size: 1, offset: FilterProgram.ancillary + 4), 4)
        }
        return isIn ? .not(outgoing) : outgoing
    }

    func interface(_ index: UInt32) throws(FilterMeaningError) -> FilterNode {
        if linkType == .linuxCooked2 { return .equal(FilterLoad(size: 4, offset: 4), index) }
        guard isLive else {
            throw .init("'ifindex' can be told in a live capture only, not from link type \(linkType.name)")
        }
        return .equal(FilterLoad(size: 4, offset: FilterProgram.ancillary + 8), index)
    }

    /// What `proto[...]` counts from, and what must hold for it.
    func indexed(_ proto: FilterProtocol) throws(FilterMeaningError) -> (place: FilterPlace, offset: Int, FilterNode) {
        switch proto {
        case .link: return (FilterPlace(slot: slot), slot == nil ? 0 : typeAt - 12, .constant(true))
        case .ip, .ip6, .arp, .rarp, .atalk, .decnet, .lat, .sca, .mopdl, .moprc:
            guard let node = abbreviation(proto) else { break }
            return (FilterPlace(slot: slot), networkAt, node)
        case .tcp, .udp, .sctp, .icmp, .igmp, .igrp, .pim, .vrrp, .carp:
            let number: UInt32 =
                switch proto {
                case .tcp: 6
                case .udp: 17
                case .sctp: 132
                case .icmp: 1
                case .igmp: 2
                case .igrp: 88
                case .pim: 103
                default: 112
                }
            return (
                FilterPlace(slot: slot, header: networkAt), networkAt,
                .all([ipProtocol(number, version6: false), firstFragment])
            )
        case .icmp6:
            return (
                FilterPlace(slot: slot), networkAt + 40, .all([type(0x86DD), .equal(network(1, 6), 58)])
            )
        case .radio: throw .init("'radio' needs radiotap headers, and the link type is \(linkType.name)")
        default: break
        }
        throw .init("'\(proto.rawValue)' cannot be indexed")
    }
}
