public import CausewayTypes

/// An Ethernet header (IEEE 802.3 §3.1), without preamble and frame check sequence.
public struct EthernetHeader: Hashable, Sendable {
    /// Header length in bytes.
    public static let byteCount = 14
    /// The destination address.
    public var destination: MACAddress
    /// The source address.
    public var source: MACAddress
    /// The payload's type. A value up to 1500 is a length instead.
    public var type: EtherType

    /// Creates a header.
    @inlinable
    public init(destination: MACAddress, source: MACAddress, type: EtherType) {
        self.destination = destination
        self.source = source
        self.type = type
    }

    /// Reads a header at `offset`.
    ///
    /// - Throws: `WireError` if fewer than ``byteCount`` bytes remain.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        destination = try MACAddress(bytes, at: offset)
        source = try MACAddress(bytes, at: offset &+ 6)
        type = EtherType(rawValue: try bytes.u16(offset &+ 12))
    }
}

/// An Ethernet frame's payload type.
public struct EtherType: RawRepresentable, Hashable, Sendable {
    /// The number assigned by IEEE.
    public var rawValue: UInt16
    /// Creates a type from its number.
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// IPv4 (0x0800).
    @inlinable public static var ipv4: EtherType { EtherType(rawValue: 0x0800) }
    /// ARP (0x0806).
    @inlinable public static var arp: EtherType { EtherType(rawValue: 0x0806) }
    /// Reverse ARP (0x8035).
    @inlinable public static var reverseARP: EtherType { EtherType(rawValue: 0x8035) }
    /// A VLAN tag (IEEE 802.1Q, 0x8100).
    @inlinable public static var vlan: EtherType { EtherType(rawValue: 0x8100) }
    /// A service VLAN tag (IEEE 802.1ad, 0x88A8).
    @inlinable public static var providerVLAN: EtherType { EtherType(rawValue: 0x88A8) }
    /// IPv6 (0x86DD).
    @inlinable public static var ipv6: EtherType { EtherType(rawValue: 0x86DD) }
    /// MPLS unicast (0x8847).
    @inlinable public static var mpls: EtherType { EtherType(rawValue: 0x8847) }
    /// PPPoE discovery stage (0x8863).
    @inlinable public static var pppoeDiscovery: EtherType { EtherType(rawValue: 0x8863) }
    /// PPPoE session stage (0x8864).
    @inlinable public static var pppoeSession: EtherType { EtherType(rawValue: 0x8864) }
}

/// A VLAN tag (IEEE 802.1Q §9.6), with the next layer's type.
public struct VLANTag: Hashable, Sendable {
    /// Tag length in bytes.
    public static let byteCount = 4
    /// The priority code point, 0...7.
    public var priority: UInt8
    /// Whether a congested bridge may drop the frame.
    public var dropEligible: Bool
    /// The VLAN identifier, 0...4095.
    public var identifier: UInt16
    /// The next layer's type.
    public var type: EtherType

    /// Creates a tag.
    public init(identifier: UInt16, priority: UInt8 = 0, dropEligible: Bool = false, type: EtherType) {
        self.identifier = identifier & 0xFFF
        self.priority = priority & 7
        self.dropEligible = dropEligible
        self.type = type
    }

    /// Reads a tag at `offset`.
    ///
    /// - Throws: `WireError` if fewer than ``byteCount`` bytes remain.
    public init(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        let control = try bytes.u16(offset)
        self.init(
            identifier: control & 0xFFF, priority: UInt8(control >> 13), dropEligible: control & 0x1000 != 0,
            type: EtherType(rawValue: try bytes.u16(offset &+ 2)))
    }
}

/// An ARP packet for Ethernet and IPv4 (RFC 826).
public struct ARPPacket: Hashable, Sendable {
    /// Packet length in bytes.
    public static let byteCount = 28
    /// The hardware type; 1 is Ethernet.
    public var hardwareType: UInt16 = 1
    /// The network address type.
    public var protocolType: EtherType = .ipv4
    /// The operation.
    public var operation: Operation
    /// The sender's hardware address.
    public var senderHardware: MACAddress
    /// The sender's IPv4 address.
    public var senderAddress: IPv4Address
    /// The target's hardware address; zero in a request.
    public var targetHardware: MACAddress
    /// The target's IPv4 address.
    public var targetAddress: IPv4Address

    /// An ARP packet's operation.
    public struct Operation: RawRepresentable, Hashable, Sendable {
        /// The operation code.
        public var rawValue: UInt16
        /// Creates an operation from its code.
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// An ARP request (1).
        @inlinable public static var request: Operation { Operation(rawValue: 1) }
        /// An ARP reply (2).
        @inlinable public static var reply: Operation { Operation(rawValue: 2) }
        /// A reverse ARP request (3).
        @inlinable public static var reverseRequest: Operation { Operation(rawValue: 3) }
        /// A reverse ARP reply (4).
        @inlinable public static var reverseReply: Operation { Operation(rawValue: 4) }
    }

    /// Creates a packet for Ethernet and IPv4.
    public init(
        operation: Operation, senderHardware: MACAddress, senderAddress: IPv4Address,
        targetHardware: MACAddress = .zero, targetAddress: IPv4Address
    ) {
        self.operation = operation
        self.senderHardware = senderHardware
        self.senderAddress = senderAddress
        self.targetHardware = targetHardware
        self.targetAddress = targetAddress
    }

    /// Reads a packet at `offset`; `nil` if its addresses are not Ethernet and IPv4 addresses.
    ///
    /// - Throws: `WireError` if the bytes end within the packet.
    public init?(_ bytes: borrowing ByteView, at offset: Int) throws(WireError) {
        guard try bytes.u8(offset &+ 4) == 6, try bytes.u8(offset &+ 5) == 4 else { return nil }
        hardwareType = try bytes.u16(offset)
        protocolType = EtherType(rawValue: try bytes.u16(offset &+ 2))
        operation = Operation(rawValue: try bytes.u16(offset &+ 6))
        senderHardware = try MACAddress(bytes, at: offset &+ 8)
        senderAddress = IPv4Address(bits: try bytes.u32(offset &+ 14))
        targetHardware = try MACAddress(bytes, at: offset &+ 18)
        targetAddress = IPv4Address(bits: try bytes.u32(offset &+ 24))
    }
}
