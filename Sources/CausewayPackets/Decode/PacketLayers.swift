/// The protocol of one packet layer.
public enum LayerKind: UInt8, Sendable, CaseIterable {
    /// `none` means no layer. The cases from `ethernet` to `ppp` are link-layer protocols.
    case none, ethernet, linuxCooked, linuxCooked2, loopback, vlan, llc, snap, mpls, pppoe, ppp
    /// ARP, IPv4, IPv6, and the IPv6 extension headers (RFC 8200 §4).
    case arp, ipv4, ipv6, hopByHop, destinationOptions, routing, fragment, authentication, mobility
    /// The protocols above IP, including tunnels.
    case icmp, icmp6, igmp, udp, tcp, sctp, gre, vxlan, geneve
    /// Bytes that are not decoded; ``PacketLayers/issues`` gives the reason.
    case payload
}

/// Layer positions in a packet, as offsets into its bytes. The size is fixed, so that a value needs no allocation.
public struct PacketLayers: Sendable {
    /// One layer: a header that begins at `offset`.
    public struct Layer: Sendable {
        /// The layer's protocol.
        public var kind: LayerKind
        /// Header length in bytes.
        public var byteCount: UInt16
        /// The header's offset in the packet, in bytes.
        public var offset: UInt32
    }

    /// Problems found while decoding a packet. A packet without issues was decoded completely.
    public struct Issues: OptionSet, Sendable, Hashable {
        /// The raw bits.
        public let rawValue: UInt16
        /// Creates a set from its bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// The capture has fewer bytes than a header needs, or than a length field states.
        public static let cutOff = Issues(rawValue: 1)
        /// A version field contradicts the previous layer's type.
        public static let badVersion = Issues(rawValue: 2)
        /// A header length is too small for the header, or exceeds the packet.
        public static let badHeaderLength = Issues(rawValue: 4)
        /// A length field states more or fewer bytes than the packet has.
        public static let badLength = Issues(rawValue: 8)
        /// The packet has more than ``PacketLayers/capacity`` layers. The bytes after the innermost recorded layer
        /// count as payload.
        public static let tooManyLayers = Issues(rawValue: 16)
        /// The protocol is not supported.
        public static let unknownProtocol = Issues(rawValue: 32)
        /// The packet is a fragment, but not the first one. So its payload does not begin with a transport header.
        public static let laterFragment = Issues(rawValue: 64)
    }

    /// The maximum number of recorded layers.
    public static let capacity = 16

    /// The layers, each packed into one integer. The decoder writes them directly into this property. Copying the array
    /// would cost time for every packet.
    private var storage: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    /// The number of layers.
    public private(set) var count = 0
    /// Problems found while decoding.
    public internal(set) var issues: Issues = []
    /// The captured bytes after the innermost header, without link-layer padding.
    public internal(set) var payload: Range<Int> = 0..<0
    /// Payload length on the wire in bytes, captured or not.
    public internal(set) var payloadOriginalCount = 0
    private var network: UInt8 = 0xFF
    private var transport: UInt8 = 0xFF

    /// Creates an empty value. See ``find(in:linkType:originalCount:)``.
    public init() {}

    @inline(__always)
    mutating func forget() {
        (count, issues, network, transport) = (0, [], 0xFF, 0xFF)
    }

    @inline(__always)
    private static func packed(_ kind: LayerKind, _ offset: Int, _ byteCount: Int) -> UInt64 {
        UInt64(UInt32(truncatingIfNeeded: offset)) << 32 | UInt64(UInt16(truncatingIfNeeded: byteCount)) << 8
            | UInt64(kind.rawValue)
    }

    private func layer(_ position: Int) -> Layer {
        let packed = storage[position]
        return Layer(
            kind: LayerKind(rawValue: UInt8(truncatingIfNeeded: packed)) ?? .none,
            byteCount: UInt16(truncatingIfNeeded: packed >> 8), offset: UInt32(truncatingIfNeeded: packed >> 32))
    }

    /// Returns the packet layer at `position`. Position 0 is the outermost layer.
    public subscript(position: Int) -> Layer {
        precondition(position >= 0 && position < count, "there are \(count) layers")
        return layer(position)
    }

    /// Adds a layer. Returns `false` if there are too many.
    @inline(__always)
    mutating func append(_ kind: LayerKind, _ offset: Int, _ byteCount: Int) -> Bool {
        guard count < Self.capacity else {
            issues.insert(.tooManyLayers)
            return false
        }
        storage[count] = Self.packed(kind, offset, byteCount)
        count &+= 1
        return true
    }

    /// Records all layers for a packet with Ethernet, IP and one transport layer.
    ///
    /// `place` is the IP layer's index: 2 if the packet has a VLAN tag, otherwise 1.
    @inline(__always)
    mutating func note(
        _ place: Int, _ kind: LayerKind, _ offset: Int, _ upper: LayerKind, _ upperOffset: Int, _ upperByteCount: Int,
        until end: Int, _ wireEnd: Int
    ) {
        storage[0] = Self.packed(.ethernet, 0, 14)
        // Store a VLAN layer for every packet, because this costs less than a branch. If the packet has no VLAN tag,
        // the IP layer overwrites it.
        storage[1] = Self.packed(.vlan, 14, 4)
        storage[place] = Self.packed(kind, offset, upperOffset &- offset)
        storage[place &+ 1] = Self.packed(upper, upperOffset, upperByteCount)
        count = place &+ 2
        network = UInt8(truncatingIfNeeded: place)
        transport = upper == .tcp || upper == .udp ? UInt8(truncatingIfNeeded: place &+ 1) : 0xFF
        issues = end < wireEnd ? .cutOff : []
        let content = upperOffset &+ upperByteCount
        payload = content..<end
        payloadOriginalCount = wireEnd &- content
    }

    /// Records the layer that was added last as the innermost network layer. If a transport layer was recorded before,
    /// removes it. That layer belongs to the packet around a tunnel.
    @inline(__always) mutating func noteNetwork() {
        (network, transport) = (UInt8(truncatingIfNeeded: count &- 1), 0xFF)
    }
    @inline(__always) mutating func noteTransport() { transport = UInt8(truncatingIfNeeded: count &- 1) }

    /// The innermost network layer.
    public var innermostNetwork: Layer? { network < count ? layer(Int(network)) : nil }
    /// The innermost transport layer.
    public var innermostTransport: Layer? { transport < count ? layer(Int(transport)) : nil }

    /// Returns the outermost layer with this kind.
    public func first(_ kind: LayerKind) -> Layer? {
        for position in 0..<count where UInt8(truncatingIfNeeded: storage[position]) == kind.rawValue {
            return layer(position)
        }
        return nil
    }
}
