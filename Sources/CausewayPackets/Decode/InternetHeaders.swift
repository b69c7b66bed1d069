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
    /// Bytes of header and content. `nil`: what there is.
    public var totalLength: UInt16?
    public var identification: UInt16 = 0
    /// The bit that is always 0.
    public var reserved = false
    public var dontFragment = false
    public var moreFragments = false
    /// In units of eight bytes.
    public var fragmentOffset: UInt16 = 0
    public var timeToLive: UInt8 = 64
    public var proto: IPProtocolNumber
    /// `nil`: the right one.
    public var checksum: UInt16?
    public var source: IPv4Address
    public var destination: IPv4Address
    /// Filled up with zeros to a multiple of four bytes when written; at most 40.
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

    /// Bytes of header.
    public var byteCount: Int { 20 + (min(options.count, 40) + 3) / 4 * 4 }

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        typeOfService = try bytes.u8(offset &+ 1)
        totalLength = try bytes.u16(offset &+ 2)
        identification = try bytes.u16(offset &+ 4)
        let fragment = try bytes.u16(offset &+ 6)
        reserved = fragment & 0x8000 != 0
        dontFragment = fragment & 0x4000 != 0
        moreFragments = fragment & 0x2000 != 0
        fragmentOffset = fragment & 0x1FFF
        timeToLive = try bytes.u8(offset &+ 8)
        proto = IPProtocolNumber(rawValue: try bytes.u8(offset &+ 9))
        checksum = try bytes.u16(offset &+ 10)
        source = IPv4Address(bits: try bytes.u32(offset &+ 12))
        destination = IPv4Address(bits: try bytes.u32(offset &+ 16))
        let length = Int(try bytes.u8(offset) & 15) * 4
        if length > 20 { options = bytes.clamped(offset &+ 20, offset &+ length).array }
    }
}

/// An IPv6 header (RFC 8200 §3). For building, what is `nil` is filled in.
public struct IPv6Header: Hashable, Sendable {
    public static let byteCount = 40
    public var trafficClass: UInt8 = 0
    /// 20 bits.
    public var flowLabel: UInt32 = 0
    /// Bytes after the header. `nil`: what there is.
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

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        let first = try bytes.u32(offset)
        trafficClass = UInt8(truncatingIfNeeded: first >> 20)
        flowLabel = first & 0xFFFFF
        payloadLength = try bytes.u16(offset &+ 4)
        nextHeader = IPProtocolNumber(rawValue: try bytes.u8(offset &+ 6))
        hopLimit = try bytes.u8(offset &+ 7)
        source = try IPv6Address(bytes, at: offset &+ 8)
        destination = try IPv6Address(bytes, at: offset &+ 24)
    }
}

extension IPv6Address {
    init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        self.init(high: try bytes.u64(offset), low: try bytes.u64(offset &+ 8))
    }
}

/// The first eight bytes of an ICMP message of either version (RFC 792, RFC 4443 §2.1).
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

    public init(_ bytes: borrowing ByteView, at offset: Int) throws(CutOff) {
        type = try bytes.u8(offset)
        code = try bytes.u8(offset &+ 1)
        checksum = try bytes.u16(offset &+ 2)
        rest = (try? bytes.u32(offset &+ 4)) ?? 0
    }
}
