import CausewayTypes
import CausewayWire

/// Resolves host, port and protocol names.
extension FilterParser {
    func name(
        _ name: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        switch qualifiers.kind {
        case nil, .host, .net: return try hostName(name, first, qualifiers)
        case .gateway: return try fail("unknown hardware address of '\(name)'", at: first)
        case .port:
            guard layout.ports(1...1, qualifiers) != nil else { return try ports(1...1, first, qualifiers) }
            let number = try port(name, first)
            var qualifiers = qualifiers
            if qualifiers.proto == nil { qualifiers.proto = PortNames.transport(of: name.lowercased()) }
            return try ports(number...number, first, qualifiers)
        case .portrange:
            guard layout.ports(1...1, qualifiers) != nil else { return try ports(1...1, first, qualifiers) }
            if let number = FilterNames.services[name] { return try ports(number...number, first, qualifiers) }
            let parts = name.split(separator: "-", maxSplits: 1)
            guard parts.count == 2 else { return try fail("'\(name)' is not a port range", at: first) }
            let (one, other) = (try port(String(parts[0]), first), try port(String(parts[1]), first))
            return try ports(min(one, other)...max(one, other), first, qualifiers)
        case .proto, .protochain:
            let table: [String: UInt32]
            switch qualifiers.proto {
            case nil, .ip, .ip6: table = FilterNames.ipProtocols
            case .link: table = FilterNames.etherTypes
            case .iso: table = FilterNames.isoProtocols
            default: table = [:]
            }
            guard let number = table[name] else { return try fail("unknown protocol '\(name)'", at: first) }
            return qualifiers.kind == .proto
                ? try proto(number, first, qualifiers) : try chain(number, first, qualifiers)
        }
    }

    private func port(_ text: String, _ first: FilterToken) throws(FilterError) -> UInt32 {
        if let number = UInt32(digits: text) { return number }
        guard let number = FilterNames.services[text.lowercased()] else {
            return try fail("unknown service '\(text)'", at: first)
        }
        return number
    }

    private func hostName(
        _ name: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        if qualifiers.proto == .decnet { return try decnetHost(name, first, qualifiers) }
        if qualifiers.kind == .net { return try fail("unknown network '\(name)'", at: first) }
        guard qualifiers.proto != .link else {
            return try fail("unknown hardware address of '\(name)'", at: first)
        }
        let addresses = settings.resolve(name)
        var nodes: [FilterNode] = []
        for address in addresses {
            switch address {
            case .ipv4(let address):
                if let node = layout.host(address.bits, mask: .max, qualifiers) { nodes.append(node) }
            case .ipv6(let address):
                if let node = layout.host6(high: address.high, low: address.low, length: 128, qualifiers) {
                    nodes.append(node)
                }
            }
        }
        guard !nodes.isEmpty else { return try fail("unknown host '\(name)'", at: first) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    func proto(
        _ number: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        let limit: UInt32 =
            switch qualifiers.proto {
            case .link: FilterLimit.etherType
            case .isis: ISISType.mask
            default: FilterLimit.protocolNumber
            }
        guard number <= limit else {
            return try fail("the protocol number is out of range: the maximum is \(limit)", at: first)
        }
        switch qualifiers.proto {
        case nil: return layout.ipProtocol(number)
        case .ip: return layout.ipProtocol(number, version6: false)
        case .ip6: return layout.ipProtocol(number, version4: false)
        case .link: return layout.type(number)
        case .iso: return layout.isoProtocol(number)
        case .isis: return layout.isisTypes([number])
        default: return try fail("'\(qualifiers.proto?.rawValue ?? "") proto' is not supported", at: first)
        }
    }

    func chain(
        _ number: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        guard number <= FilterLimit.protocolNumber else {
            return try fail(
                "the protocol number is out of range: the maximum is \(FilterLimit.protocolNumber)", at: first)
        }
        guard layout.networkPlace == .packet else {
            return try fail("'protochain' requires headers that begin at the same place in every packet", at: first)
        }
        let version4 = FilterNode.all([
            layout.type(FilterPayload.ipv4),
            .chain(version6: false, at: layout.networkAt, slot: layout.slot, proto: number),
        ])
        let version6 = FilterNode.all([
            layout.type(FilterPayload.ipv6),
            .chain(version6: true, at: layout.networkAt, slot: layout.slot, proto: number),
        ])
        switch qualifiers.proto {
        case nil: return .any([version4, version6])
        case .ip: return version4
        case .ip6: return version6
        default: return try fail("'\(qualifiers.proto?.rawValue ?? "") protochain' is not supported", at: first)
        }
    }
}
