import CausewayTypes
package import CausewayWire

/// Creates probes that find hosts on the local link. The probes are ARP requests (RFC 826) and neighbour solicitations
/// (RFC 4861 §4.3).
///
/// A host that does not answer these requests cannot communicate on the link. So a packet filter cannot hide a host
/// from them.
package struct NeighbourProbes: Sendable {
    private let hardware: MACAddress

    /// - Parameter hardware: The hardware address of the interface that sends the probes.
    package init(hardware: MACAddress) { self.hardware = hardware }

    /// The packet filter expression for frames that ``answer(_:)`` decodes.
    package static let filter = "arp[6:2] = 2 or (icmp6 and ip6[40] = 136)"

    /// Returns a frame that requests the hardware address for an IP address; `nil` unless `address` and `source` have
    /// the same address family.
    package func request(_ address: InternetAddress, from source: InternetAddress) -> [UInt8]? {
        var packet = PacketBuilder()
        switch (address, source) {
        case (.ipv4(let address), .ipv4(let source)):
            packet.add(EthernetHeader(destination: .broadcast, source: hardware, type: .arp))
            packet.add(
                ARPPacket(
                    operation: .request, senderHardware: hardware, senderAddress: source, targetAddress: address))
        case (.ipv6(let address), .ipv6(let source)):
            // Send the request to the solicited-node multicast group (RFC 4291 §2.7.1). It contains all hosts with an
            // address whose last 24 bits equal those of the requested address.
            let group = IPv6Address(high: 0xFF02 << 48, low: 0x1_FF00_0000 | address.low & 0xFF_FFFF)
            packet.add(
                EthernetHeader(
                    destination: MACAddress(bits: 0x3333_0000_0000 | group.low & 0xFFFF_FFFF), source: hardware,
                    type: .ipv6))
            packet.add(IPv6Header(source: source, destination: group, nextHeader: .icmp6, hopLimit: 255))
            packet.add(ICMPHeader(type: 135), version6: true)
            packet.add(payload: Self.bytes(address.high, 8) + Self.bytes(address.low, 8))
            // The source link-layer address option. Its length is in 8-byte units.
            packet.add(payload: [1, 1] + Self.bytes(hardware.bits, 6))
        default: return nil
        }
        return packet.finish()
    }

    /// Returns the IP address that a reply frame belongs to. This address is in use on the link. `nil` if the frame is
    /// not an answer to a request.
    package func answer(_ frame: borrowing ByteView) -> InternetAddress? {
        guard let header = try? EthernetHeader(frame, at: 0) else { return nil }
        switch header.type {
        case .arp:
            guard let packet = try? ARPPacket(frame, at: EthernetHeader.byteCount), packet.operation == .reply,
                packet.targetHardware == hardware
            else { return nil }
            return .ipv4(packet.senderAddress)
        case .ipv6:
            let at = EthernetHeader.byteCount + IPv6Header.byteCount
            // A hop limit below 255 means that a router forwarded the message, so it is not from the link (RFC 4861 §7.1.2).
            guard let ip = try? IPv6Header(frame, at: EthernetHeader.byteCount), ip.hopLimit == 255,
                ip.nextHeader == .icmp6, let message = try? ICMPHeader(frame, at: at), message.type == 136,
                message.code == 0, let target = try? IPv6Address(frame, at: at + ICMPHeader.byteCount)
            else { return nil }
            return .ipv6(target)
        default: return nil
        }
    }

    private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
    }
}
