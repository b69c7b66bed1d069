public import CausewayTypes

/// An Ethernet header (IEEE 802.3 §3.1), without preamble and check sequence.
public struct EthernetHeader: Hashable, Sendable {
    public static let byteCount = 14
    public var destination: MACAddress
    public var source: MACAddress
    /// What follows; at most 1500 it is a length instead.
    public var type: EtherType

    @inlinable
    public init(destination: MACAddress, source: MACAddress, type: EtherType) {
        self.destination = destination
        self.source = source
        self.type = type
    }

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        destination = try MACAddress(bytes, at: offset)
        source = try MACAddress(bytes, at: offset &+ 6)
        type = EtherType(rawValue: try bytes.u16(offset &+ 12))
    }
}

/// What an Ethernet frame carries.
public struct EtherType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
    @inlinable public static var ipv4: EtherType { EtherType(rawValue: 0x0800) }
    @inlinable public static var arp: EtherType { EtherType(rawValue: 0x0806) }
    @inlinable public static var reverseARP: EtherType { EtherType(rawValue: 0x8035) }
    @inlinable public static var vlan: EtherType { EtherType(rawValue: 0x8100) }
    @inlinable public static var providerVLAN: EtherType { EtherType(rawValue: 0x88A8) }
    @inlinable public static var ipv6: EtherType { EtherType(rawValue: 0x86DD) }
    @inlinable public static var mpls: EtherType { EtherType(rawValue: 0x8847) }
    @inlinable public static var pppoeDiscovery: EtherType { EtherType(rawValue: 0x8863) }
    @inlinable public static var pppoeSession: EtherType { EtherType(rawValue: 0x8864) }
}

/// A VLAN tag (IEEE 802.1Q §9.6), with the type of what follows it.
public struct VLANTag: Hashable, Sendable {
    public static let byteCount = 4
    /// 0...7.
    public var priority: UInt8
    public var dropEligible: Bool
    /// 0...4095.
    public var identifier: UInt16
    public var type: EtherType

    public init(identifier: UInt16, priority: UInt8 = 0, dropEligible: Bool = false, type: EtherType) {
        self.identifier = identifier & 0xFFF
        self.priority = priority & 7
        self.dropEligible = dropEligible
        self.type = type
    }

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        let control = try bytes.u16(offset)
        self.init(
            identifier: control & 0xFFF, priority: UInt8(control >> 13), dropEligible: control & 0x1000 != 0,
            type: EtherType(rawValue: try bytes.u16(offset &+ 2)))
    }
}

/// An address resolution packet for Ethernet and IPv4 (RFC 826).
public struct ARPPacket: Hashable, Sendable {
    public static let byteCount = 28
    public var hardwareType: UInt16 = 1
    public var protocolType: EtherType = .ipv4
    public var operation: Operation
    public var senderHardware: MACAddress
    public var senderAddress: IPv4Address
    public var targetHardware: MACAddress
    public var targetAddress: IPv4Address

    /// What is asked or answered.
    public struct Operation: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt16
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
        @inlinable public static var request: Operation { Operation(rawValue: 1) }
        @inlinable public static var reply: Operation { Operation(rawValue: 2) }
        @inlinable public static var reverseRequest: Operation { Operation(rawValue: 3) }
        @inlinable public static var reverseReply: Operation { Operation(rawValue: 4) }
    }

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

    /// `nil` where the addresses are not Ethernet's and IPv4's.
    public init?(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
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
