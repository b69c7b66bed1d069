/// Tests for hardware addresses, broadcast and multicast.
extension FilterLayout {
    /// The bit in a hardware address's first byte that marks a group (IEEE 802 §8.2).
    private static let groupBit: UInt32 = 1
    /// The smallest first byte in multicast and reserved IPv4 addresses (RFC 1112 §4), and the first byte in IPv6
    /// multicast addresses (RFC 4291 §2.7).
    private static let multicast4: UInt32 = 224
    private static let multicast6: UInt32 = 0xFF

    /// Returns a test for six-byte addresses; `nil` if the link type has no such addresses.
    func hardware(_ bits: UInt64, _ direction: FilterDirection) -> FilterNode? {
        switch addresses {
        case .none, .short: nil
        case .long(let destination, let source):
            ofFrame(directed(direction, address(bits, source), address(bits, destination)))
        case .wireless:
            directed(direction, wirelessSource { address(bits, $0) }, wirelessDestination { address(bits, $0) })
        }
    }

    /// Returns a test for one-byte addresses; `nil` if the link type has no such addresses.
    func shortHardware(_ number: UInt32, _ direction: FilterDirection) -> FilterNode? {
        guard case .short(let destination, let source, _) = addresses else { return nil }
        return directed(
            direction, .equal(linkHeader.load(1, source), number), .equal(linkHeader.load(1, destination), number))
    }

    /// Returns a test that compares six bytes of the link header, such as a MAC address.
    func address(_ bits: UInt64, _ offset: Int) -> FilterNode {
        .all([
            .equal(linkHeader.load(4, offset + 2), UInt32(truncatingIfNeeded: bits)),
            .equal(linkHeader.load(2, offset), UInt32(truncatingIfNeeded: bits >> 32)),
        ])
    }

    /// Returns `node`, restricted to packets with a link header. Some tunnels also carry IP packets without a link
    /// header.
    func ofFrame(_ node: FilterNode) -> FilterNode { frameCondition.map { .all([$0, node]) } ?? node }

    func broadcast(_ qualifiers: FilterQualifiers, netmask: UInt32?) throws(FilterMeaningError) -> FilterNode {
        switch qualifiers.proto {
        case nil, .link:
            if case .short(let destination, _, let broadcastAddress) = addresses {
                return .equal(linkHeader.load(1, destination), broadcastAddress)
            }
            guard let node = hardware(MACAddress.broadcast.bits, .destination) else {
                throw .init("'broadcast' requires hardware addresses, but the link type is \(linkType.name)")
            }
            return node
        case .ip:
            guard let netmask else {
                throw .init("'ip broadcast' requires the network mask, which is unknown for this capture")
            }
            let host = ~netmask
            let load = network(4, 16)
            return .all([
                type(FilterPayload.ipv4), .any([.equal(load, 0, mask: host), .equal(load, host, mask: host)]),
            ])
        default: throw .init("only 'link' and 'ip' have broadcasts")
        }
    }

    func multicast(_ qualifiers: FilterQualifiers) throws(FilterMeaningError) -> FilterNode {
        switch qualifiers.proto {
        case nil, .link:
            func isGroup(_ offset: Int) -> FilterNode {
                .equal(linkHeader.load(1, offset), Self.groupBit, mask: Self.groupBit)
            }
            switch addresses {
            case .long(let destination, _): return ofFrame(isGroup(destination))
            case .short(let destination, _, let broadcastAddress):
                return .equal(linkHeader.load(1, destination), broadcastAddress)
            case .wireless: return wirelessDestination(isGroup)
            case .none: throw .init("'multicast' requires hardware addresses, but the link type is \(linkType.name)")
            }
        case .ip:
            return .all([type(FilterPayload.ipv4), .test(network(1, 16), mask: .max, .greaterOrEqual, Self.multicast4)])
        case .ip6: return .all([type(FilterPayload.ipv6), .equal(network(1, 24), Self.multicast6)])
        default: throw .init("only 'link', 'ip' and 'ip6' have multicasts")
        }
    }
}
