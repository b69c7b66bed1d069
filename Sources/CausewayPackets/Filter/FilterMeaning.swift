/// Translates the primitives of the filter language for a layout.
extension FilterLayout {
    static let transports: [(FilterProtocol, UInt32)] = [(.udp, 17), (.tcp, 6), (.sctp, 132)]

    /// Returns a test for a protocol over IPv4 or IPv6.
    func ipProtocol(_ number: UInt32, version4: Bool = true, version6: Bool = true) -> FilterNode {
        var nodes: [FilterNode] = []
        if version4 { nodes.append(.all([type(0x800), .equal(network(1, 9), number)])) }
        if version6 {
            let fragment = FilterNode.all([.equal(network(1, 6), 44), .equal(network(1, 40), number)])
            nodes.append(.all([type(0x86DD), .any([.equal(network(1, 6), number), fragment])]))
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    /// Returns a test for a protocol's name without an argument.
    func abbreviation(_ proto: FilterProtocol) -> FilterNode? {
        switch proto {
        case .sctp: ipProtocol(132)
        case .tcp: ipProtocol(6)
        case .udp: ipProtocol(17)
        case .icmp: ipProtocol(1, version6: false)
        case .icmp6: ipProtocol(58, version4: false)
        case .igmp: ipProtocol(2, version6: false)
        case .igrp: ipProtocol(9, version6: false)
        case .pim: ipProtocol(103)
        case .vrrp, .carp: ipProtocol(112, version6: false)
        case .ah: ipProtocol(51)
        case .esp: ipProtocol(50)
        case .ip: type(0x800)
        case .ip6: type(0x86DD)
        case .arp: type(0x806)
        case .rarp: type(0x8035)
        case .atalk: type(0x809B)
        case .aarp: type(0x80F3)
        case .decnet: type(0x6003)
        case .sca: type(0x6007)
        case .lat: type(0x6004)
        case .mopdl: type(0x6001)
        case .moprc: type(0x6002)
        case .stp: type(0x42)
        case .ipx: type(0xE0)
        case .netbeui: type(0xF0)
        case .iso: type(0xFE)
        case .clnp: isoProtocol(0x81)
        case .esis: isoProtocol(0x82)
        case .isis: isoProtocol(0x83)
        case .l1: isisTypes([0x1A, 0x18, 0x12, 0x0F, 0x11])
        case .l2: isisTypes([0x1B, 0x19, 0x14, 0x10, 0x11])
        case .iih: isisTypes([0x11, 0x0F, 0x10])
        case .lsp: isisTypes([0x12, 0x14])
        case .snp: isisTypes([0x1A, 0x1B, 0x18, 0x19])
        case .csnp: isisTypes([0x18, 0x19])
        case .psnp: isisTypes([0x1A, 0x1B])
        case .link, .radio: nil
        }
    }

    /// Returns a test for IPv4 hosts: in IP headers, and in ARP packets unless the qualifiers exclude them.
    func host(_ address: UInt32, mask: UInt32, _ qualifiers: FilterQualifiers) -> FilterNode? {
        let ip = FilterHosts.Form(
            condition: type(0x800), source: network(4, 12), destination: network(4, 16))
        let arp = FilterHosts.Form(condition: type(0x806), source: network(4, 14), destination: network(4, 24))
        let rarp = FilterHosts.Form(condition: type(0x8035), source: network(4, 14), destination: network(4, 24))
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
        return .all([type(0x86DD), directed(qualifiers.direction, one(8), one(24))])
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

    /// Returns a test for DECnet nodes. The header has a short or a long form, with or without a padding byte.
    func decnetHost(_ address: UInt32, _ direction: FilterDirection) -> FilterNode {
        // The address is in little-endian order.
        let swapped = (address & 0xFF) << 8 | address >> 8
        func one(_ short: Int, _ long: Int) -> FilterNode {
            .any([
                .all([.equal(network(2, 2), 0x8106, mask: 0xFF07), .equal(network(2, 3 + long), swapped)]),
                .all([.equal(network(1, 2), 0x06, mask: 0x07), .equal(network(2, 2 + long), swapped)]),
                .all([.equal(network(2, 2), 0x8102, mask: 0xFF07), .equal(network(2, 3 + short), swapped)]),
                .all([.equal(network(1, 2), 0x02, mask: 0x07), .equal(network(2, 2 + short), swapped)]),
            ])
        }
        return .all([type(0x6003), directed(direction, one(3, 15), one(1, 7))])
    }

    /// Returns a test for ports of the transports that have ports.
    func ports(_ range: ClosedRange<UInt32>, _ qualifiers: FilterQualifiers) -> FilterNode? {
        let numbers: [UInt32]
        switch qualifiers.proto {
        case nil: numbers = [17, 6, 132]
        case .udp: numbers = [17]
        case .tcp: numbers = [6]
        case .sctp: numbers = [132]
        default: return nil
        }
        let protocols = FilterRanges.merged(numbers.map { $0...$0 })
        func isTransport(_ offset: Int) -> FilterNode {
            numbers.count == 1
                ? .equal(network(1, offset), numbers[0]) : .member(network(1, offset), mask: .max, protocols)
        }
        func port(_ load: FilterLoad) -> FilterNode {
            range.count == 1 ? .equal(load, range.lowerBound) : .member(load, mask: .max, [range])
        }
        let direction = qualifiers.direction
        let version6 = FilterNode.all([
            type(0x86DD), isTransport(6), directed(direction, port(network(2, 40)), port(network(2, 42))),
        ])
        let version4 = FilterNode.all([
            type(0x800), isTransport(9), firstFragment,
            directed(direction, port(transport(2, 0)), port(transport(2, 2))),
        ])
        return .any([version6, version4])
    }

    /// Only the first fragment contains a transport header.
    var firstFragment: FilterNode { .equal(network(2, 6), 0, mask: 0x1FFF) }
}

/// The reason why a primitive is not valid for a layout. The parser adds the position.
struct FilterMeaningError: Error {
    var message: String
    init(_ message: String) { self.message = message }
}
