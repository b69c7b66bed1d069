import CausewayTypes
import CausewayWire

/// Parses primitives: names and numbers with qualifiers, and keywords.
extension FilterParser {
    /// Parses one name, address or number.
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
            return try hardware(first, qualifiers, "of six bytes") { layout, qualifiers in
                if let wireless = qualifiers.wireless { return layout.wirelessAddress(wireless, bits) }
                return layout.hardware(bits, qualifiers.direction)
            }
        case .shortMAC(let number):
            advance()
            return try hardware(first, qualifiers, "of one byte") { layout, qualifiers in
                qualifiers.wireless == nil ? layout.shortHardware(number, qualifiers.direction) : nil
            }
        case _ where qualifiers.wireless != nil: return try expected("a hardware address")
        case _ where layout.link == .opaque: return try expected("a hardware address")
        case .number(let number):
            advance()
            return try self.number(number, first, qualifiers)
        case .word(let word, let escaped):
            guard escaped || !FilterKeywords.all.contains(word) else {
                return try fail("expected a name or address; write \\\(word) for the name '\(word)'")
            }
            advance()
            return try name(word, first, qualifiers)
        case .symbol("("):
            // Parse grouped values, such as `port (80 or 443)`.
            depth += 1
            defer { depth -= 1 }
            guard depth < Self.deepest else { return try fail("the expression is nested too deeply") }
            advance()
            let outer = beginChain()
            var chain = FilterChain(try primitive(qualifiers))
            while let joint = isJoint() {
                advance()
                let next = try primitive(qualifiers)
                try join(next, by: joint, to: &chain)
            }
            guard take(symbol: ")") else { return try expected("')'") }
            end(chain, in: outer)
            return chain.node
        case .symbol, .end: return try expected("a name or address")
        }
    }

    private func hardware(
        _ first: FilterToken, _ qualifiers: FilterQualifiers, _ size: String,
        _ node: (FilterLayout, FilterQualifiers) -> FilterNode?
    ) throws(FilterError) -> FilterNode {
        guard qualifiers.kind ?? .host == .host, qualifiers.proto == .link else {
            return try fail("a hardware address requires 'ether host' before it", at: first)
        }
        guard let node = node(layout, qualifiers) else {
            return try fail(
                "link type \(layout.linkType.name) has no hardware addresses \(size)", at: first)
        }
        return node
    }

    private func requireAddressKind(_ qualifiers: FilterQualifiers, _ first: FilterToken) throws(FilterError) {
        switch qualifiers.kind {
        case nil, .host, .net: return
        case .port, .portrange, .proto, .protochain, .gateway:
            return try fail(
                "'\(qualifiers.kind?.rawValue ?? "")' requires a name or number, not an address", at: first)
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
            guard length <= FilterLimit.prefixLength4 else {
                return try fail("the prefix length is out of range: the maximum is \(FilterLimit.prefixLength4)")
            }
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
                return try fail("a network requires 'net' before it", at: first)
            }
            guard address & ~mask == 0 else {
                return try fail("the address has bits outside its mask", at: first)
            }
        }
        return try host(address, mask, first, qualifiers)
    }

    func host(
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
            guard number <= FilterLimit.prefixLength6 else {
                return try fail("the prefix length is out of range: the maximum is \(FilterLimit.prefixLength6)")
            }
            advance()
            length = Int(number)
            guard number == FilterLimit.prefixLength6 || qualifiers.kind == .net else {
                return try fail("a network requires 'net' before it", at: first)
            }
            let highMask = length == 0 ? 0 : UInt64.max << UInt64(64 - min(length, 64))
            let lowMask = length <= 64 ? 0 : UInt64.max << UInt64(128 - length)
            guard high & ~highMask == 0, low & ~lowMask == 0 else {
                return try fail("the address has bits outside its prefix", at: first)
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
            guard qualifiers.proto != .link else { return try fail("a number is not a hardware address", at: first) }
            return try host(number, .max, first, qualifiers)
        case .net:
            // A short network such as "net 10" means 10.0.0.0/8. So move the number to the first byte.
            var (address, mask) = (number, UInt32.max)
            while address != 0, address & 0xFF00_0000 == 0 {
                address <<= 8
                mask <<= 8
            }
            return try host(address, mask, first, qualifiers)
        case .port: return try ports(number...number, first, qualifiers)
        case .portrange: return try ports(number...number, first, qualifiers)
        case .gateway: return try fail("'gateway' requires a host name", at: first)
        case .proto: return try proto(number, first, qualifiers)
        case .protochain: return try chain(number, first, qualifiers)
        }
    }

    func ports(
        _ range: ClosedRange<UInt32>, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        guard range.upperBound <= FilterLimit.port else {
            return try fail("the port is out of range: the maximum is \(FilterLimit.port)", at: first)
        }
        guard let node = layout.ports(range, qualifiers) else {
            return try fail("'\(qualifiers.proto?.rawValue ?? "")' has no ports: 'tcp', 'udp' and 'sctp' do", at: first)
        }
        return node
    }

    /// Parses a DECnet address: an area and a node.
    func decnetHost(
        _ text: String, _ first: FilterToken, _ qualifiers: FilterQualifiers
    ) throws(FilterError) -> FilterNode {
        let parts = text.split(separator: ".").map { UInt32($0) }
        guard qualifiers.kind != .net, parts.count == 2, let area = parts[0], let node = parts[1],
            area <= FilterLimit.decnetArea, node <= FilterLimit.decnetNode
        else { return try fail("'\(text)' is not a DECnet address", at: first) }
        return layout.decnetHost(area << 10 | node, qualifiers.direction)
    }
}
