/// Translates the filter language's primitives, such as `tcp` or `vlan`, into tests at the current header positions.
extension FilterLayout {
    /// Loads the protocol field of the IPv4 header.
    var protocolField4: FilterLoad { network(1, 9) }
    /// Loads the Next Header field of the IPv6 header, which states the protocol.
    var protocolField6: FilterLoad { network(1, 6) }

    /// Returns a test for a protocol over IPv4 or IPv6.
    func ipProtocol(_ number: UInt32, version4: Bool = true, version6: Bool = true) -> FilterNode {
        var nodes: [FilterNode] = []
        if version4 { nodes.append(.all([type(FilterPayload.ipv4), .equal(protocolField4, number)])) }
        if version6 {
            let isFragment = FilterNode.equal(protocolField6, .fragment)
            let fragment = FilterNode.all([isFragment, .equal(network(1, IPv6Header.byteCount), number)])
            nodes.append(.all([type(FilterPayload.ipv6), .any([.equal(protocolField6, number), fragment])]))
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    /// Returns a test for a protocol over IPv4 or IPv6.
    func ipProtocol(_ number: IPProtocolNumber, version4: Bool = true, version6: Bool = true) -> FilterNode {
        ipProtocol(UInt32(number.rawValue), version4: version4, version6: version6)
    }

    /// Returns the test for a protocol name that is used as a whole filter expression, such as `tcp`. Returns `nil` if
    /// the protocol has no such test.
    func abbreviation(_ proto: FilterProtocol) -> FilterNode? {
        switch proto {
        case .sctp: ipProtocol(.sctp)
        case .tcp: ipProtocol(.tcp)
        case .udp: ipProtocol(.udp)
        case .icmp: ipProtocol(.icmp, version6: false)
        case .icmp6: ipProtocol(.icmp6, version4: false)
        case .igmp: ipProtocol(.igmp, version6: false)
        case .igrp: ipProtocol(.igrp, version6: false)
        case .pim: ipProtocol(.pim)
        case .vrrp, .carp: ipProtocol(.vrrp, version6: false)
        case .ah: ipProtocol(.authentication)
        case .esp: ipProtocol(.esp)
        case .ip: type(FilterPayload.ipv4)
        case .ip6: type(FilterPayload.ipv6)
        case .arp: type(FilterPayload.arp)
        case .rarp: type(FilterPayload.reverseARP)
        case .atalk: type(FilterPayload.appleTalk)
        case .aarp: type(FilterPayload.appleTalkARP)
        case .decnet: type(FilterPayload.decnet)
        case .sca: type(FilterPayload.sca)
        case .lat: type(FilterPayload.lat)
        case .mopdl: type(FilterPayload.mopDump)
        case .moprc: type(FilterPayload.mopConsole)
        case .stp: type(FilterPayload.spanningTree)
        case .ipx: type(FilterPayload.ipx)
        case .netbeui: type(FilterPayload.netbeui)
        case .iso: type(FilterPayload.iso)
        case .clnp: isoProtocol(ISOProtocol.clnp)
        case .esis: isoProtocol(ISOProtocol.esis)
        case .isis: isoProtocol(ISOProtocol.isis)
        case .l1: isisTypes(ISISType.level1)
        case .l2: isisTypes(ISISType.level2)
        case .iih: isisTypes(ISISType.hellos)
        case .lsp: isisTypes([ISISType.linkState1, ISISType.linkState2])
        case .snp: isisTypes(ISISType.partial + ISISType.complete)
        case .csnp: isisTypes(ISISType.complete)
        case .psnp: isisTypes(ISISType.partial)
        case .link, .radio: nil
        }
    }

    /// Returns a test for IPv4 hosts: in IP headers, and in ARP packets unless the qualifiers exclude them.
    func host(_ address: UInt32, mask: UInt32, _ qualifiers: FilterQualifiers) -> FilterNode? {
        let ip = FilterHosts.Form(
            condition: type(FilterPayload.ipv4), source: network(4, 12), destination: network(4, 16))
        func form(_ type: UInt32) -> FilterHosts.Form {
            FilterHosts.Form(condition: self.type(type), source: network(4, 14), destination: network(4, 24))
        }
        let arp = form(FilterPayload.arp)
        let rarp = form(FilterPayload.reverseARP)
        let forms: [FilterHosts.Form]
        switch qualifiers.proto {
        case nil: forms = labels > 0 ? [ip] : [ip, arp, rarp]
        case .ip: forms = [ip]
        case .arp: forms = [arp]
        case .rarp: forms = [rarp]
        default: return nil
        }
        return .hosts(
            FilterHosts(forms: forms, direction: qualifiers.direction, mask: mask, addresses: [address & mask]))
    }

    /// Returns a test for IPv6 hosts and networks.
    func host6(high: UInt64, low: UInt64, length: Int, _ qualifiers: FilterQualifiers) -> FilterNode? {
        guard qualifiers.proto == nil || qualifiers.proto == .ip6 else { return nil }
        let words = [high >> 32, high & 0xFFFF_FFFF, low >> 32, low & 0xFFFF_FFFF].map { UInt32($0) }
        func one(_ offset: Int) -> FilterNode {
            var nodes: [FilterNode] = []
            for index in (0..<4).reversed() {
                let bits = min(max(length - 32 * index, 0), 32)
                guard bits > 0 else { continue }
                let mask = UInt32.max << UInt32(32 - bits)
                nodes.append(.equal(network(4, offset + 4 * index), words[index] & mask, mask: mask))
            }
            return nodes.isEmpty ? .constant(true) : .all(nodes)
        }
        return .all([type(FilterPayload.ipv6), directed(qualifiers.direction, one(8), one(24))])
    }

    func directed(
        _ direction: FilterDirection, _ source: FilterNode, _ destination: FilterNode
    ) -> FilterNode {
        switch direction {
        case .source: source
        case .destination: destination
        case .both: .all([source, destination])
        case .either, .unspecified: .any([source, destination])
        }
    }

    /// The flags that state the form of a DECnet routing header.
    private enum DECnetFlags {
        static let mask: UInt32 = 0x07
        static let short: UInt32 = 0x02
        static let long: UInt32 = 0x06
        /// The value of the padding byte that may precede the flags byte.
        static let padding: UInt32 = 0x81
    }

    private func isDECnet(_ form: UInt32, padded: Bool) -> FilterNode {
        guard padded else { return .equal(network(1, 2), form, mask: DECnetFlags.mask) }
        return .equal(network(2, 2), DECnetFlags.padding << 8 | form, mask: 0xFF00 | DECnetFlags.mask)
    }

    /// Returns a filter test for a DECnet address. The header can be short or long, with or without a padding byte.
    func decnetHost(_ address: UInt32, _ direction: FilterDirection) -> FilterNode {
        // DECnet stores the address in little-endian order.
        let swapped = (address & 0xFF) << 8 | address >> 8
        func one(_ short: Int, _ long: Int) -> FilterNode {
            .any([
                .all([isDECnet(DECnetFlags.long, padded: true), .equal(network(2, 3 + long), swapped)]),
                .all([isDECnet(DECnetFlags.long, padded: false), .equal(network(2, 2 + long), swapped)]),
                .all([isDECnet(DECnetFlags.short, padded: true), .equal(network(2, 3 + short), swapped)]),
                .all([isDECnet(DECnetFlags.short, padded: false), .equal(network(2, 2 + short), swapped)]),
            ])
        }
        return .all([type(FilterPayload.decnet), directed(direction, one(3, 15), one(1, 7))])
    }

    /// Returns a test for ports, in all transports with ports.
    func ports(_ range: ClosedRange<UInt32>, _ qualifiers: FilterQualifiers) -> FilterNode? {
        let transports: [IPProtocolNumber]
        switch qualifiers.proto {
        case nil: transports = [.udp, .tcp, .sctp]
        case .udp: transports = [.udp]
        case .tcp: transports = [.tcp]
        case .sctp: transports = [.sctp]
        default: return nil
        }
        let numbers = transports.map { UInt32($0.rawValue) }
        let protocols = FilterRanges.merged(numbers.map { $0...$0 })
        func isTransport(_ field: FilterLoad) -> FilterNode {
            numbers.count == 1 ? .equal(field, numbers[0]) : .member(field, mask: .max, protocols)
        }
        func port(_ load: FilterLoad) -> FilterNode {
            range.count == 1 ? .equal(load, range.lowerBound) : .member(load, mask: .max, [range])
        }
        let direction = qualifiers.direction
        let version6 = FilterNode.all([
            type(FilterPayload.ipv6), isTransport(protocolField6),
            directed(direction, port(network(2, 40)), port(network(2, 42))),
        ])
        let version4 = FilterNode.all([
            type(FilterPayload.ipv4), isTransport(protocolField4), firstFragment,
            directed(direction, port(transport(2, 0)), port(transport(2, 2))),
        ])
        return .any([version6, version4])
    }

    /// A mask for the fragment offset in the IPv4 header (RFC 791 §3.1).
    private static let fragmentOffset: UInt32 = 0x1FFF

    /// Matches packets that can contain a transport header. Only the first fragment of a packet contains it.
    var firstFragment: FilterNode { .equal(network(2, 6), 0, mask: Self.fragmentOffset) }
}

/// The reason why a filter primitive is not valid at its place in the expression. For example, the link type may not
/// support it. The parser adds the position in the text.
struct FilterMeaningError: Error {
    var message: String
    init(_ message: String) { self.message = message }
}
