import CausewayTypes
import CausewayWire

/// Primitives: names and numbers with their qualifiers, and words with a meaning of their own.
extension FilterParser {
    /// One name, address or number.
    mutating func primitive(_ qualifiers: FilterQualifiers) throws(FilterError) -> FilterNode {
        let first = token
        switch token.kind {
        case .ipv4(let bits, let width, _):
            advance()
            return try ipv4(bits, width, first, qualifiers)
        case .ipv6(let high, let low):
            advance()
            return try ipv6(high, low, first, qualifiers)
        case .mac(let bits):
            advance()
            let kind = qualifiers.kind ?? .host
            guard kind == .host, qualifiers.proto == .link else {
                return try fail("a hardware address needs 'ether host' before it", at: first)
            }
            guard let node = layout.hardware(bits, qualifiers.direction) else {
                return try fail(
                    "hardware addresses need Ethernet, and the link type is \(layout.linkType.name)", at: first)
            }
            return node
        case .shortMAC: return try fail("an ARCnet address, and the link type is \(layout.linkType.name)")
        case .number(let number):
            advance()
            return try self.number(number, first, qualifiers)
        case .word(let word, let escaped):
            guard escaped || !FilterKeywords.all.contains(word) else {
                return try fail("a name or address was expected; write \\\(word) for the name '\(word)'")
            }
            advance()
            return try name(word, first, qualifiers)
        case .symbol("("):
            // "port (80 or 443)"
            advance()
            var node = try primitive(qualifiers)
            while let joint = isJoint() {
                advance()
                node = joint.join(node, try primitive(qualifiers))
            }
            guard take(symbol: ")") else { return try expected("')'") }
            return node
        case .symbol, .end: return try expected("a name or address")
        }
    }

    private func requireAddressKind(_ qualifiers: FilterQualifiers, _ first: FilterToken) throws(FilterError) {
        switch qualifiers.kind {
        case nil, .host, .net: return
        case .port, .portrange, .proto, .protochain, .gateway:
            return try fail(
                "'\(qualifiers.kind?.rawValue ?? "")' is followed by a name or number, not by an address", at: first)
        }
    }

    private mutating func ipv4(
        _ given: UInt32, _ width: Int, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        try requireAddressKind(qualifiers, first)
        if qualifiers.proto == .decnet, case .ipv4(_, _, let text) = first.kind {
            return try decnetHost(text, first, qualifiers)
        }
        let missing = UInt32(32 - width)
        let address = missing == 32 ? 0 : given << missing
        var mask = UInt32.max << missing
        var isNetwork = false
        if token.kind == .symbol("/") {
            advance()
            guard case .number(let length) = token.kind else { return try expected("the length of a prefix") }
            guard length <= 32 else { return try fail("a prefix has at most 32 bits") }
            advance()
            mask = length == 0 ? 0 : UInt32.max << (32 - length)
            isNetwork = true
        } else if word() == "mask" {
            advance()
            guard case .ipv4(let bits, let maskWidth, _) = token.kind else { return try expected("a mask") }
            advance()
            mask = bits << UInt32(32 - maskWidth)
            isNetwork = true
        }
        if isNetwork {
            guard qualifiers.kind == .net else {
                return try fail("a network needs 'net' before it", at: first)
            }
            guard address & ~mask == 0 else {
                return try fail("the address has bits that its mask leaves out", at: first)
            }
        }
        return try host(address, mask, first, qualifiers)
    }

    private func host(
        _ address: UInt32, _ mask: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        guard let node = layout.host(address, mask: mask, qualifiers) else {
            return try fail(
                "'\(qualifiers.proto?.rawValue ?? "")' has no IPv4 \(qualifiers.kind?.rawValue ?? "host")s", at: first)
        }
        return node
    }

    private mutating func ipv6(
        _ high: UInt64, _ low: UInt64, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        try requireAddressKind(qualifiers, first)
        var length = 128
        if take(symbol: "/") {
            guard case .number(let number) = token.kind else { return try expected("the length of a prefix") }
            guard number <= 128 else { return try fail("a prefix has at most 128 bits") }
            advance()
            length = Int(number)
            guard length == 128 || qualifiers.kind == .net else {
                return try fail("a network needs 'net' before it", at: first)
            }
            let highMask = length == 0 ? 0 : UInt64.max << UInt64(64 - min(length, 64))
            let lowMask = length <= 64 ? 0 : UInt64.max << UInt64(128 - length)
            guard high & ~highMask == 0, low & ~lowMask == 0 else {
                return try fail("the address has bits that its prefix leaves out", at: first)
            }
        }
        guard let node = layout.host6(high: high, low: low, length: length, qualifiers) else {
            return try fail(
                "'\(qualifiers.proto?.rawValue ?? "")' has no IPv6 \(qualifiers.kind?.rawValue ?? "host")s", at: first)
        }
        return node
    }

    private func number(
        _ number: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        switch qualifiers.kind {
        case nil, .host:
            guard qualifiers.proto != .link else { return try fail("a number is no hardware address", at: first) }
            return try host(number, .max, first, qualifiers)
        case .net:
            // "net 10" means the network whose first part is 10.
            var (address, mask) = (number, UInt32.max)
            while address != 0, address & 0xFF00_0000 == 0 {
                address <<= 8
                mask <<= 8
            }
            return try host(address, mask, first, qualifiers)
        case .port: return try ports(number...number, first, qualifiers)
        case .portrange: return try ports(number...number, first, qualifiers)
        case .gateway: return try fail("'gateway' needs the name of a host", at: first)
        case .proto: return try proto(number, first, qualifiers)
        case .protochain: return try chain(number, first, qualifiers)
        }
    }

    private func ports(
        _ range: ClosedRange<UInt32>, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        guard range.upperBound <= 65535 else { return try fail("a port is at most 65535", at: first) }
        guard let node = layout.ports(range, qualifiers) else {
            return try fail("'\(qualifiers.proto?.rawValue ?? "")' has no ports: 'tcp', 'udp' and 'sctp' do", at: first)
        }
        return node
    }

    private func name(
        _ name: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        switch qualifiers.kind {
        case nil, .host, .net: return try hostName(name, first, qualifiers)
        case .gateway: return try fail("the hardware address of '\(name)' is not known", at: first)
        case .port:
            guard layout.ports(1...1, qualifiers) != nil else { return try ports(1...1, first, qualifiers) }
            return try ports(try port(name, first)...(try port(name, first)), first, qualifiers)
        case .portrange:
            guard layout.ports(1...1, qualifiers) != nil else { return try ports(1...1, first, qualifiers) }
            if let number = FilterNames.services[name] { return try ports(number...number, first, qualifiers) }
            let parts = name.split(separator: "-", maxSplits: 1)
            guard parts.count == 2 else { return try fail("'\(name)' is no range of ports", at: first) }
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
            guard let number = table[name] else { return try fail("the protocol '\(name)' is not known", at: first) }
            return qualifiers.kind == .proto
                ? try proto(number, first, qualifiers) : try chain(number, first, qualifiers)
        }
    }

    private func port(_ text: String, _ first: FilterToken) throws(FilterError) -> UInt32 {
        if let number = UInt32(text) { return number }
        guard let number = FilterNames.services[text.lowercased()] else {
            return try fail("the service '\(text)' is not known", at: first)
        }
        return number
    }

    private func hostName(
        _ name: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        if qualifiers.proto == .decnet { return try decnetHost(name, first, qualifiers) }
        if qualifiers.kind == .net { return try fail("the network '\(name)' is not known", at: first) }
        guard qualifiers.proto != .link else {
            return try fail("the hardware address of '\(name)' is not known", at: first)
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
        guard !nodes.isEmpty else { return try fail("the host '\(name)' is not known", at: first) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    /// An area and a node.
    private func decnetHost(
        _ text: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        let parts = text.split(separator: ".").map { UInt32($0) }
        guard qualifiers.kind != .net, parts.count == 2, let area = parts[0], let node = parts[1], area < 64,
            node < 1024
        else { return try fail("'\(text)' is no DECnet address", at: first) }
        return layout.decnetHost(area << 10 | node, qualifiers.direction)
    }

    private func proto(
        _ number: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        let limit: UInt32 = qualifiers.proto == .link ? 65535 : qualifiers.proto == .isis ? 31 : 255
        guard number <= limit else { return try fail("the protocol is at most \(limit)", at: first) }
        switch qualifiers.proto {
        case nil: return layout.ipProtocol(number)
        case .ip: return layout.ipProtocol(number, version6: false)
        case .ip6: return layout.ipProtocol(number, version4: false)
        case .link: return layout.type(number)
        case .iso: return layout.isoProtocol(number)
        case .isis: return layout.isisTypes([number])
        default: return try fail("'\(qualifiers.proto?.rawValue ?? "") proto' says nothing", at: first)
        }
    }

    private func chain(
        _ number: UInt32, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        guard number <= 255 else { return try fail("the protocol is at most 255", at: first) }
        guard layout.slot == nil else { return try fail("'protochain' cannot stand behind a tunnel", at: first) }
        let version4 = FilterNode.all([
            layout.type(0x800), .chain(version6: false, at: layout.networkAt, slot: layout.slot, proto: number),
        ])
        let version6 = FilterNode.all([
            layout.type(0x86DD), .chain(version6: true, at: layout.networkAt, slot: layout.slot, proto: number),
        ])
        switch qualifiers.proto {
        case nil: return .any([version4, version6])
        case .ip: return version4
        case .ip6: return version6
        default: return try fail("'\(qualifiers.proto?.rawValue ?? "") protochain' says nothing", at: first)
        }
    }

    /// Words that are filters by themselves; `nil` where `word` is none.
    mutating func special(_ word: String) throws(FilterError) -> FilterNode? {
        let first = token
        if let link = FilterKeywords.unsupported[word] {
            return try fail("'\(word)' needs \(link), and the link type is \(layout.linkType.name)")
        }
        switch word {
        case "less", "greater":
            advance()
            let number = try literal()
            return word == "less"
                ? .not(.relation(.length, .greater, .number(number)))
                : .relation(.length, .greaterOrEqual, .number(number))
        case "byte":
            advance()
            return try byte()
        case "inbound", "outbound":
            advance()
            let layout = self.layout
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.bound(isIn: word == "inbound") }
        case "ifindex":
            advance()
            let (layout, index) = (self.layout, try literal())
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.interface(index) }
        case "llc":
            advance()
            var name: String?
            if case .word(let type, _) = token.kind, isJoint() == nil {
                name = type
                advance()
            }
            let layout = self.layout
            return try meaning(at: first) { () throws(FilterMeaningError) in try layout.llc(name) }
        case "vlan", "mpls", "pppoed", "pppoes", "geneve", "vxlan": return try layered(word, first)
        default: return nil
        }
    }

    private mutating func layered(_ word: String, _ first: FilterToken) throws(FilterError) -> FilterNode {
        advance()
        var number: UInt32?
        if word != "pppoed", case .number(let value) = token.kind, !isComputed(1) {
            number = value
            advance()
        }
        if word == "pppoed" { return layout.type(0x8863) }
        var layout = self.layout
        let node = try meaning(at: first) { () throws(FilterMeaningError) in
            switch word {
            case "vlan": try layout.vlan(number)
            case "mpls": try layout.mpls(number)
            case "pppoes": try layout.pppoe(number)
            default: try layout.overlay(isGeneve: word == "geneve", number)
            }
        }
        self.layout = layout
        return node
    }

    private func isComputed(_ distance: Int) -> Bool {
        guard case .symbol(let symbol) = peek(distance).kind else { return false }
        return !["&&", "||", ")"].contains(symbol)
    }

    mutating func literal() throws(FilterError) -> UInt32 {
        if take(symbol: "(") {
            let number = try literal()
            guard take(symbol: ")") else { return try expected("')'") }
            return number
        }
        guard case .number(let number) = token.kind else { return try expected("a number") }
        advance()
        return number
    }

    /// `byte N op V`: one octet of the packet.
    private mutating func byte() throws(FilterError) -> FilterNode {
        let offset = try literal()
        guard case .symbol(let symbol) = token.kind, ["=", "==", "<", ">", "&", "|"].contains(symbol) else {
            return try expected("'=', '<', '>', '&' or '|'")
        }
        advance()
        let place = token
        let value = try literal()
        guard value <= 255 else { return try fail("an octet is at most 255", at: place) }
        guard offset <= 0xFFFF else { return try fail("no packet has octet \(offset)", at: place) }
        let load = FilterLoad(size: 1, offset: Int(offset), place: FilterPlace(slot: layout.slot))
        switch symbol {
        case "<": return .not(.test(load, mask: .max, .greaterOrEqual, value))
        case ">": return .test(load, mask: .max, .greater, value)
        case "&": return .not(.equal(load, 0, mask: value))
        case "|":
            return .not(
                .relation(
                    .binary(
                        .load(size: 1, offset: load.offset, place: load.place, index: .number(0)), .or, .number(value)),
                    .equal, .number(0)))
        default: return .equal(load, value)
        }
    }
}
