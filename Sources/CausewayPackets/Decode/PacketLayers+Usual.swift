extension PacketLayers {
    /// Finds the layers of what most packets are: Ethernet, perhaps one VLAN tag, an IP header without options, and TCP, UDP or ICMP
    /// without anything wrong. Everything else is left to ``LayerWalk``, which finds the same, step by step.
    ///
    /// - Returns: `false`, with nothing noted, where the packet is another one.
    @inline(__always)
    mutating func findUsual(_ p: borrowing Octets, wireCount: Int) -> Bool {
        let captured = p.count
        // The link's header, IPv4's and the shortest of what follows; each longer header is asked for where it is.
        guard captured >= 42 else { return false }
        var type = p.unchecked16(12)
        var at = 14
        if type == 0x8100 {
            guard captured >= 46 else { return false }
            type = p.unchecked16(16)
            at = 18
        }
        let network = at
        let number: UInt8
        let end: Int
        if type == 0x0800 {
            guard p.unchecked8(at) == 0x45, p.unchecked16(at &+ 6) & 0x1FFF == 0 else { return false }
            let total = Int(p.unchecked16(at &+ 2))
            guard total >= 28 else { return false }
            end = at &+ total
            number = p.unchecked8(at &+ 9)
            at &+= 20
        } else {
            guard type == 0x86DD, captured >= at &+ 48, p.unchecked8(at) >> 4 == 6 else { return false }
            let length = Int(p.unchecked16(at &+ 4))
            guard length >= 8 else { return false }
            number = p.unchecked8(at &+ 6)
            at &+= 40
            end = at &+ length
        }
        guard end <= wireCount else { return false }
        return takeUsual(p, number, isIPv6: type != 0x0800, network, at, end, captured)
    }

    @inline(__always)
    private mutating func takeUsual(
        _ p: borrowing Octets, _ number: UInt8, isIPv6: Bool, _ network: Int, _ start: Int, _ wireEnd: Int,
        _ captured: Int
    ) -> Bool {
        var end = wireEnd
        let length: Int
        let kind: LayerKind
        switch number {
        case 6:
            guard min(end, captured) &- start >= 20 else { return false }
            length = Int(p.unchecked8(start &+ 12) >> 4) &* 4
            kind = .tcp
            guard length >= 20 else { return false }
        case 17:
            let count = Int(p.unchecked16(start &+ 4))
            guard count >= 8, start &+ count <= end else { return false }
            let destination = p.unchecked16(start &+ 2)
            guard destination != 4789, destination != 6081, destination != 6635 else { return false }
            end = start &+ count
            (length, kind) = (8, .udp)
        case 1 where !isIPv6: (length, kind) = (8, .icmp)
        case 58 where isIPv6: (length, kind) = (8, .icmp6)
        default: return false
        }
        let limit = min(end, captured)
        guard limit &- start >= length else { return false }
        note(isIPv6 ? .ipv6 : .ipv4, network, start &- network, kind, start, length)
        let content = start &+ length
        payload = content..<limit
        payloadOriginalCount = end &- content
        if limit < end { issues = .cutOff }
        return true
    }
}

extension Octets {
    /// Octets that the caller knows to be there.
    @inline(__always)
    fileprivate func unchecked8(_ offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < count)
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }
    @inline(__always)
    fileprivate func unchecked16(_ offset: Int) -> UInt16 {
        assert(offset >= 0 && offset < count &- 1)
        return UInt16(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
    }
}
