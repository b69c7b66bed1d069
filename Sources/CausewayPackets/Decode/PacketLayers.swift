/// What one layer of a packet is.
public enum LayerKind: UInt8, Sendable, CaseIterable {
    case none, ethernet, linuxCooked, linuxCooked2, loopback, vlan, llc, snap, mpls, pppoe, ppp
    case arp, ipv4, ipv6, hopByHop, destinationOptions, routing, fragment, authentication, mobility
    case icmp, icmp6, igmp, udp, tcp, sctp, gre, vxlan, geneve
    /// What no decoder here takes further; see the issues for why.
    case payload
}

/// Where the layers of a packet lie: offsets only, no copies. The same for every packet, so keeping one costs no allocation.
public struct PacketLayers: Sendable {
    /// One layer: its header from `offset` on.
    public struct Layer: Sendable {
        public var kind: LayerKind
        /// Bytes of its header.
        public var byteCount: UInt16
        /// Bytes from the packet's beginning.
        public var offset: UInt32
    }

    /// What was wrong with a packet. A packet without issues was decoded to its end.
    public struct Issues: OptionSet, Sendable, Hashable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Fewer bytes were captured than a header needs or a length field promises.
        public static let cutOff = Issues(rawValue: 1)
        /// A version field that contradicts the layer before.
        public static let badVersion = Issues(rawValue: 2)
        /// A header length too small for its header, or larger than the packet.
        public static let badHeaderLength = Issues(rawValue: 4)
        /// A length field that promises more, or less, than there is.
        public static let badLength = Issues(rawValue: 8)
        /// More layers than ``PacketLayers/capacity``: what follows the last one is payload.
        public static let tooManyLayers = Issues(rawValue: 16)
        /// A protocol that is not decoded here.
        public static let unknownProtocol = Issues(rawValue: 32)
        /// A fragment that is not the first one: its content has no header of its own.
        public static let laterFragment = Issues(rawValue: 64)
    }

    /// The most layers that are told apart.
    public static let capacity = 16

    /// Each layer as one number, all written where they are: what is made elsewhere would have to be copied for every packet.
    private var storage: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    public private(set) var count = 0
    public internal(set) var issues: Issues = []
    /// What no header covers: the application's bytes, as far as captured, without link-layer padding.
    public internal(set) var payload: Range<Int> = 0..<0
    /// Bytes of payload that were on the wire, captured or not.
    public internal(set) var payloadOriginalCount = 0
    private var network: UInt8 = 0xFF
    private var transport: UInt8 = 0xFF

    /// Of no packet yet: see ``find(in:linkType:originalCount:)``.
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

    /// The layer at `position`, from the outermost.
    public subscript(position: Int) -> Layer {
        precondition(position >= 0 && position < count, "there are \(count) layers")
        return layer(position)
    }

    /// Adds a layer, unless there are too many.
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

    /// All of a packet of Ethernet, IP and one more, which may have a VLAN tag: `place` is 2 then, and 1 otherwise.
    @inline(__always)
    mutating func note(
        _ place: Int, _ kind: LayerKind, _ offset: Int, _ upper: LayerKind, _ upperOffset: Int, _ upperByteCount: Int,
        until end: Int, _ wireEnd: Int
    ) {
        storage[0] = Self.packed(.ethernet, 0, 14)
        // Where there is no tag, what follows is written over it: that costs less than to ask.
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

    /// The transport that carried the tunnel does not belong to the inner packet.
    @inline(__always) mutating func noteNetwork() {
        (network, transport) = (UInt8(truncatingIfNeeded: count &- 1), 0xFF)
    }
    @inline(__always) mutating func noteTransport() { transport = UInt8(truncatingIfNeeded: count &- 1) }

    /// The innermost network layer.
    public var innermostNetwork: Layer? { network < count ? layer(Int(network)) : nil }
    /// The innermost transport layer.
    public var innermostTransport: Layer? { transport < count ? layer(Int(transport)) : nil }

    /// The outermost layer of `kind`.
    public func first(_ kind: LayerKind) -> Layer? {
        for position in 0..<count where UInt8(truncatingIfNeeded: storage[position]) == kind.rawValue {
            return layer(position)
        }
        return nil
    }
}
