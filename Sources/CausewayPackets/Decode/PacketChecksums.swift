/// A packet's verified checksums.
public struct PacketChecksums: Hashable, Sendable {
    /// The innermost IPv4 header's checksum.
    public var network: ChecksumStatus = .notPresent
    /// The checksum in the innermost TCP, UDP, ICMP, ICMPv6 or IGMP layer.
    public var transport: ChecksumStatus = .notPresent
}

extension Packet {
    /// Verifies the checksums in the innermost network layer and its payload.
    ///
    /// - Parameter offloaded: Whether the kernel reports that the network card has yet to fill in the transport checksum. A mismatch is
    ///   then ``ChecksumStatus/offloaded`` instead of ``ChecksumStatus/bad``.
    public func checksums(offloaded: Bool = false) -> PacketChecksums {
        var result = PacketChecksums()
        guard let network = layers.innermostNetwork else { return result }
        if network.kind == .ipv4 {
            let header = bytes.clamped(
                Int(network.offset), Int(network.offset) + Int(network.byteCount))
            result.network = InternetChecksum.of(header) == 0 ? .good : .bad
        }
        result.transport = transportStatus(network)
        if offloaded, result.transport == .bad { result.transport = .offloaded }
        return result
    }

    private func transportStatus(_ network: PacketLayers.Layer) -> ChecksumStatus {
        guard let layer = coveredLayer() else { return .notPresent }
        let start = Int(layer.offset)
        let end = layers.payload.upperBound
        let missing = layers.payloadOriginalCount - layers.payload.count
        if layer.kind == .udp, (try? bytes.u16(start + 6)) == 0 { return .notPresent }
        guard missing == 0, end >= start, !isFragment(network) else { return .unknown }
        var checksum = InternetChecksum()
        let covered = bytes.clamped(start, end)
        if layer.kind != .icmp, layer.kind != .igmp {
            addPseudoHeader(&checksum, network, layer.kind, covered.count)
        }
        checksum.add(covered)
        return checksum.value == 0 ? .good : .bad
    }

    private func coveredLayer() -> PacketLayers.Layer? {
        guard layers.count > 0 else { return nil }
        let last = layers[layers.count - 1]
        switch last.kind {
        case .tcp, .udp, .icmp, .icmp6, .igmp: return last
        default: return nil
        }
    }

    private func isFragment(_ network: PacketLayers.Layer) -> Bool {
        if network.kind == .ipv4 {
            return ((try? bytes.u16(Int(network.offset) + 6)) ?? 0) & 0x3FFF != 0
        }
        guard let fragment = layers.first(.fragment) else { return false }
        return ((try? bytes.u16(Int(fragment.offset) + 2)) ?? 0) & 0xFFF9 != 0
    }

    /// Adds the pseudo header (RFC 9293 §3.1, RFC 8200 §8.1).
    private func addPseudoHeader(
        _ checksum: inout InternetChecksum, _ network: PacketLayers.Layer, _ kind: LayerKind, _ length: Int
    ) {
        let start = Int(network.offset)
        let addresses = network.kind == .ipv4 ? start + 12..<start + 20 : start + 8..<start + 40
        checksum.add(bytes.clamped(addresses))
        checksum.add(UInt32(truncatingIfNeeded: length))
        let number: UInt16 = kind == .tcp ? 6 : kind == .udp ? 17 : 58
        checksum.add(number)
    }
}
