package import CausewayWire

/// A captured packet, decoded in place: borrowed bytes and layer positions.
///
/// ```swift
/// let packet = Packet(bytes, linkType: .ethernet)
/// if let tcp = packet.tcp, tcp.flags.contains(.syn) { print(packet.ipv4?.source, tcp.destinationPort) }
/// ```
///
/// Decoding allocates memory only for the options of IPv4 and TCP headers. For a tunnel, ``ipv4``, ``tcp`` and the
/// other properties are the innermost headers.
public struct Packet: ~Escapable {
    /// The captured bytes.
    public let bytes: ByteView
    /// The layer positions.
    public let layers: PacketLayers
    /// The length on the wire in bytes.
    public let originalCount: Int

    /// Finds the layers in `bytes`.
    @_lifetime(copy bytes)
    public init(_ bytes: consuming ByteView, linkType: LinkType, originalCount: Int? = nil) {
        self.layers = PacketLayers(bytes, linkType: linkType, originalCount: originalCount)
        self.originalCount = originalCount ?? bytes.count
        self.bytes = bytes
    }

    /// Problems found while decoding. Empty if the packet was decoded completely.
    public var issues: PacketLayers.Issues { layers.issues }

    /// The Ethernet header, or `nil` if the packet has none.
    public var ethernet: EthernetHeader? {
        guard let layer = layers.first(.ethernet) else { return nil }
        return try? EthernetHeader(bytes, at: Int(layer.offset))
    }
    /// The outermost VLAN tag, or `nil` if the packet has none.
    public var vlan: VLANTag? {
        guard let layer = layers.first(.vlan) else { return nil }
        return try? VLANTag(bytes, at: Int(layer.offset))
    }
    /// The ARP packet for Ethernet and IPv4 addresses, or `nil` if there is none.
    public var arp: ARPPacket? {
        guard let layer = layers.first(.arp) else { return nil }
        return (try? ARPPacket(bytes, at: Int(layer.offset))) ?? nil
    }
    /// The innermost network header if it is IPv4, otherwise `nil`.
    public var ipv4: IPv4Header? {
        guard let layer = layers.innermostNetwork, layer.kind == .ipv4 else { return nil }
        return try? IPv4Header(bytes, at: Int(layer.offset))
    }
    /// The innermost network header if it is IPv6, otherwise `nil`.
    public var ipv6: IPv6Header? {
        guard let layer = layers.innermostNetwork, layer.kind == .ipv6 else { return nil }
        return try? IPv6Header(bytes, at: Int(layer.offset))
    }
    /// The innermost transport header if it is TCP, otherwise `nil`.
    public var tcp: TCPHeader? {
        guard let layer = layers.innermostTransport, layer.kind == .tcp else { return nil }
        return try? TCPHeader(bytes, at: Int(layer.offset))
    }
    /// The innermost transport header if it is UDP, otherwise `nil`.
    public var udp: UDPHeader? {
        guard let layer = layers.innermostTransport, layer.kind == .udp else { return nil }
        return try? UDPHeader(bytes, at: Int(layer.offset))
    }
    /// The ICMP or ICMPv6 header, or `nil` if the packet has none.
    public var icmp: ICMPHeader? {
        guard let layer = layers.first(.icmp) ?? layers.first(.icmp6) else { return nil }
        return try? ICMPHeader(bytes, at: Int(layer.offset))
    }
    /// The captured bytes after the innermost header.
    public var payload: ByteView {
        @_lifetime(copy self) get { bytes.clamped(layers.payload) }
    }

    /// The DNS message, if a UDP port is 53, 5353 or 5355.
    package var dns: DNSMessage? {
        guard let udp, [53, 5353, 5355].contains(where: { $0 == udp.sourcePort || $0 == udp.destinationPort })
        else { return nil }
        return try? DNSMessage(parsing: payload.rawSpan)
    }
    /// The server name in this packet's TLS ClientHello.
    public var serverName: String? { clientHello?.serverName }
    /// The TLS ClientHello that begins the TCP payload.
    var clientHello: ClientHello? {
        guard let layer = layers.innermostTransport, layer.kind == .tcp else { return nil }
        return ClientHello(payload)
    }
}
