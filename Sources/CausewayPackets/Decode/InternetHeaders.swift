public import CausewayTypes

/// The number of what an IP packet carries.
public struct IPProtocolNumber: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
    @inlinable public static var icmp: IPProtocolNumber { IPProtocolNumber(rawValue: 1) }
    @inlinable public static var igmp: IPProtocolNumber { IPProtocolNumber(rawValue: 2) }
    @inlinable public static var tcp: IPProtocolNumber { IPProtocolNumber(rawValue: 6) }
    @inlinable public static var udp: IPProtocolNumber { IPProtocolNumber(rawValue: 17) }
    @inlinable public static var gre: IPProtocolNumber { IPProtocolNumber(rawValue: 47) }
    @inlinable public static var icmp6: IPProtocolNumber { IPProtocolNumber(rawValue: 58) }
    @inlinable public static var sctp: IPProtocolNumber { IPProtocolNumber(rawValue: 132) }
}

/// An IPv4 header (RFC 791 §3.1). For building, what is `nil` is filled in.
public struct IPv4Header: Hashable, Sendable {
    /// Differentiated services and congestion notification (RFC 2474 §3, RFC 3168 §5).
    public var typeOfService: UInt8 = 0
    /// Octets of header and content. `nil`: what there is.
    public var totalLength: UInt16?
    public var identification: UInt16 = 0
    /// The bit that is always 0.
    public var reserved = false
    public var dontFragment = false
    public var moreFragments = false
    /// In units of eight octets.
    public var fragmentOffset: UInt16 = 0
    public var timeToLive: UInt8 = 64
    public var proto: IPProtocolNumber
    /// `nil`: the right one.
    public var checksum: UInt16?
    public var source: IPv4Address
    public var destination: IPv4Address
    /// Filled up with zeros to a multiple of four octets when written; at most 40.
    public var options: [UInt8] = []

    @inlinable
    public init(
        source: IPv4Address, destination: IPv4Address, proto: IPProtocolNumber, timeToLive: UInt8 = 64,
        identification: UInt16 = 0
    ) {
        self.source = source
        self.destination = destination
        self.proto = proto
        self.timeToLive = timeToLive
        self.identification = identification
    }

    /// Octets of header.
    public var byteCount: Int { 20 + (min(options.count, 40) + 3) / 4 * 4 }

    public init(_ octets: borrowing Octets, at offset: Int) throws(CutOff) {
        typeOfService = try octets.u8(offset &+ 1)
        totalLength = try octets.u16(offset &+ 2)
        identification = try octets.u16(offset &+ 4)
        let fragment = try octets.u16(offset &+ 6)
        reserved = fragment & 0x8000 != 0
        dontFragment = fragment & 0x4000 != 0
        moreFragments = fragment & 0x2000 != 0
        fragmentOffset = fragment & 0x1FFF
        timeToLive = try octets.u8(offset &+ 8)
        proto = IPProtocolNumber(rawValue: try octets.u8(offset &+ 9))
        checksum = try octets.u16(offset &+ 10)
        source = IPv4Address(bits: try octets.u32(offset &+ 12))
        destination = IPv4Address(bits: try octets.u32(offset &+ 16))
        let length = Int(try octets.u8(offset) & 15) * 4
        if length > 20 { options = octets.clamped(offset &+ 20, offset &+ length).array }
    }
}

/// An IPv6 header (RFC 8200 §3). For building, what is `nil` is filled in.
public struct IPv6Header: Hashable, Sendable {
    public static let byteCount = 40
    public var trafficClass: UInt8 = 0
    /// 20 bits.
    public var flowLabel: UInt32 = 0
    /// Octets after the header. `nil`: what there is.
    public var payloadLength: UInt16?
    public var nextHeader: IPProtocolNumber
    public var hopLimit: UInt8 = 64
    public var source: IPv6Address
    public var destination: IPv6Address

    @inlinable
    public init(
        source: IPv6Address, destination: IPv6Address, nextHeader: IPProtocolNumber, hopLimit: UInt8 = 64,
        flowLabel: UInt32 = 0
    ) {
        self.source = source
        self.destination = destination
        self.nextHeader = nextHeader
        self.hopLimit = hopLimit
        self.flowLabel = flowLabel & 0xFFFFF
    }

    public init(_ octets: borrowing Octets, at offset: Int) throws(CutOff) {
        let first = try octets.u32(offset)
        trafficClass = UInt8(truncatingIfNeeded: first >> 20)
        flowLabel = first & 0xFFFFF
        payloadLength = try octets.u16(offset &+ 4)
        nextHeader = IPProtocolNumber(rawValue: try octets.u8(offset &+ 6))
        hopLimit = try octets.u8(offset &+ 7)
        source = try IPv6Address(octets, at: offset &+ 8)
        destination = try IPv6Address(octets, at: offset &+ 24)
    }
}

extension IPv6Address {
    init(_ octets: borrowing Octets, at offset: Int) throws(CutOff) {
        self.init(high: try octets.u64(offset), low: try octets.u64(offset &+ 8))
    }
}

/// The first eight octets of an ICMP message of either version (RFC 792, RFC 4443 §2.1).
public struct ICMPHeader: Hashable, Sendable {
    public static let byteCount = 8
    public var type: UInt8
    public var code: UInt8 = 0
    /// `nil`: the right one.
    public var checksum: UInt16?
    /// What the type makes of it: an identifier and a sequence number, an address, an MTU.
    public var rest: UInt32 = 0

    public init(type: UInt8, code: UInt8 = 0, rest: UInt32 = 0) {
        self.type = type
        self.code = code
        self.rest = rest
    }

    /// An echo request or reply.
    public static func echo(type: UInt8, identifier: UInt16, sequence: UInt16) -> ICMPHeader {
        ICMPHeader(type: type, rest: UInt32(identifier) << 16 | UInt32(sequence))
    }

    public var identifier: UInt16 { UInt16(truncatingIfNeeded: rest >> 16) }
    public var sequence: UInt16 { UInt16(truncatingIfNeeded: rest) }

    public init(_ octets: borrowing Octets, at offset: Int) throws(CutOff) {
        type = try octets.u8(offset)
        code = try octets.u8(offset &+ 1)
        checksum = try octets.u16(offset &+ 2)
        rest = (try? octets.u32(offset &+ 4)) ?? 0
    }
}
