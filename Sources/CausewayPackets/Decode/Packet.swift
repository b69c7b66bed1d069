package import CausewayWire

/// One captured packet, looked at in place: its bytes, borrowed, and where its layers lie.
///
/// ```swift
/// let packet = Packet(bytes, linkType: .ethernet)
/// if let tcp = packet.tcp, tcp.flags.contains(.syn) { print(packet.ipv4?.source, tcp.destinationPort) }
/// ```
///
/// Looking allocates nothing but the arrays of options, where there are some. Of tunnels, ``ipv4``, ``tcp`` and so on show the innermost.
public struct Packet: ~Escapable {
    public let bytes: ByteView
    public let layers: PacketLayers
    /// Bytes on the wire.
    public let originalCount: Int

    /// Looks at `bytes`.
    @_lifetime(copy bytes)
    public init(_ bytes: consuming ByteView, linkType: LinkType, originalCount: Int? = nil) {
        self.layers = PacketLayers(bytes, linkType: linkType, originalCount: originalCount)
        self.originalCount = originalCount ?? bytes.count
        self.bytes = bytes
    }

    /// What was wrong or is missing. Empty: decoded to the end.
    public var issues: PacketLayers.Issues { layers.issues }

    public var ethernet: EthernetHeader? {
        guard let layer = layers.first(.ethernet) else { return nil }
        return try? EthernetHeader(bytes, at: Int(layer.offset))
    }
    /// The outermost tag.
    public var vlan: VLANTag? {
        guard let layer = layers.first(.vlan) else { return nil }
        return try? VLANTag(bytes, at: Int(layer.offset))
    }
    public var arp: ARPPacket? {
        guard let layer = layers.first(.arp) else { return nil }
        return (try? ARPPacket(bytes, at: Int(layer.offset))) ?? nil
    }
    public var ipv4: IPv4Header? {
        guard let layer = layers.innermostNetwork, layer.kind == .ipv4 else { return nil }
        return try? IPv4Header(bytes, at: Int(layer.offset))
    }
    public var ipv6: IPv6Header? {
        guard let layer = layers.innermostNetwork, layer.kind == .ipv6 else { return nil }
        return try? IPv6Header(bytes, at: Int(layer.offset))
    }
    public var tcp: TCPHeader? {
        guard let layer = layers.innermostTransport, layer.kind == .tcp else { return nil }
        return try? TCPHeader(bytes, at: Int(layer.offset))
    }
    public var udp: UDPHeader? {
        guard let layer = layers.innermostTransport, layer.kind == .udp else { return nil }
        return try? UDPHeader(bytes, at: Int(layer.offset))
    }
    /// The ICMP header of either version.
    public var icmp: ICMPHeader? {
        guard let layer = layers.first(.icmp) ?? layers.first(.icmp6) else { return nil }
        return try? ICMPHeader(bytes, at: Int(layer.offset))
    }
    /// What no header covers, as far as captured.
    public var payload: ByteView {
        @_lifetime(copy self) get { bytes.clamped(layers.payload) }
    }

    /// The DNS message, where the ports say that there is one.
    package var dns: DNSMessage? {
        guard let udp, [53, 5353, 5355].contains(where: { $0 == udp.sourcePort || $0 == udp.destinationPort })
        else { return nil }
        return try? DNSMessage(parsing: payload.rawSpan)
    }
    /// The server's name in a TLS ClientHello.
    public var serverName: String? { clientHello?.serverName }
    /// What a TLS client says first.
    var clientHello: ClientHello? {
        guard let layer = layers.innermostTransport, layer.kind == .tcp else { return nil }
        return ClientHello(payload)
    }
}
